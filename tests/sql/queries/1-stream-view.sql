CREATE VIEW big AS SELECT time, pid, bytes FROM 'events.jsonl' WHERE bytes > 4KiB;
SELECT pid, count(*) AS n, sum(bytes) AS bytes FROM big GROUP BY pid ORDER BY pid
