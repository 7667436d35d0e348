SELECT histogram(n, linear(0s, 1s, 100ms)) AS h FROM 'events.jsonl' WHERE n > 0
-- check: none, a warning; all 26 are below 100 ms, which are 10^8
