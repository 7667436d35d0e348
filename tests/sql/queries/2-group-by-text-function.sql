SELECT substr(s, 1, 1) AS initial, count(*) AS m FROM 'events.jsonl' GROUP BY initial ORDER BY m DESC, initial
