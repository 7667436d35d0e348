SELECT top_k(pid, 4, bytes + pid) AS t, approx_count_distinct(pid) AS d FROM 'events.jsonl' WHERE cpu = 0 WINDOW HOPPING 9s BY 6s
-- sqlite: SELECT top(pid, bytes + pid, 4) AS t, count(DISTINCT pid) AS d FROM events WHERE cpu = 0
