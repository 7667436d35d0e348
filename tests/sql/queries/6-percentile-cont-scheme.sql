SELECT percentile_cont(0.5, linear(-50, 50, 1)) WITHIN GROUP (ORDER BY n) AS p FROM 'events.jsonl'
