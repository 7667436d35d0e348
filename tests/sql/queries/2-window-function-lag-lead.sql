SELECT time, n, lag(n) OVER (ORDER BY time) AS before, lead(n, 2, 0) OVER (ORDER BY time) AS later FROM 'events.jsonl' WHERE k = 'gamma' ORDER BY time
