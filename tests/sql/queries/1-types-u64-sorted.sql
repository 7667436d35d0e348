-- check: none, as above
SELECT u FROM 'extremes.jsonl' ORDER BY u DESC LIMIT 4
