SELECT UNNEST(histogram(n, linear(-50, 50, 25))) AS h, count(*) AS n FROM 'events.jsonl'
