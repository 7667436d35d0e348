SELECT DISTINCT cpu, pid FROM 'events.jsonl' ORDER BY cpu, pid
