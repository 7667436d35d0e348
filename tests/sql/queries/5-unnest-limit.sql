SELECT cpu, UNNEST(histogram(n, linear(-50, 50, 25))) FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu DESC LIMIT 3 OFFSET 2
