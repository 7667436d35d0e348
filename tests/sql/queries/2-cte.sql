WITH per_pid AS (SELECT pid, count(*) AS m, sum(bytes) AS b FROM 'events.jsonl' GROUP BY pid)
SELECT count(*) AS pids, max(m) AS most, sum(b) AS b FROM per_pid
