SELECT cpu, approx_count_distinct(pid, 16) AS pids FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu
-- sqlite: SELECT cpu, count(DISTINCT pid) AS pids FROM events GROUP BY cpu ORDER BY cpu
