SELECT histogram(n) AS h FROM 'events.jsonl' WHERE cpu = 0
-- check: hist, values below zero are counted as negative
