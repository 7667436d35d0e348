SELECT k, count(*) FROM 'events.jsonl' WHERE length(k) > 4 GROUP BY k WINDOW SESSION (GAP 1s)
