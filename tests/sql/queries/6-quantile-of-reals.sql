SELECT k, p99(r) FROM 'events.jsonl' GROUP BY k
