SELECT n % 2 AS m, m + 1 AS p, p * 2 AS q FROM 'events.jsonl'
