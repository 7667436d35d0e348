SELECT top_k(pid, 3) AS t FROM 'events.jsonl' WHERE pid < 0
-- check: none, the list of no values is empty
