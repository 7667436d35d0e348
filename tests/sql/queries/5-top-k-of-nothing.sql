SELECT top_k(pid, 3) AS t FROM 'events.jsonl' WHERE pid < 0
-- sqlite: SELECT top(pid, 1, 3) AS t FROM events WHERE pid < 0
