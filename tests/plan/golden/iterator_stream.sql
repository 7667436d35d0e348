SELECT t.comm, t.ppid, count(*) AS n
FROM syscall:read AS r LEFT JOIN iter:task AS t ON r.tid = t.tid AND t.uid = 0
GROUP BY t.comm, t.ppid WINDOW TUMBLING 1s
