SELECT count(DISTINCT k) AS ks, count(DISTINCT pid) AS pids FROM 'events.jsonl' WINDOW HOPPING 6s BY 4s
