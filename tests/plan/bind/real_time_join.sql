-- A live side of a relational join against a file's times: converted where they are compared.
SELECT a.pid, count(*) FROM tracepoint:sched:sched_wakeup AS a JOIN 'data/reads.csv' AS b
ON a.time > b.time AND a.time - b.time < 1s GROUP BY a.pid
