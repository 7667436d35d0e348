SELECT count(*) AS m FROM 'events.jsonl' WHERE pid = target_pid()
