-- Two parts of one call: the conditions that both begin with are tested once.
SELECT a.n, b.n
FROM (SELECT count(*) AS n FROM tracepoint:syscalls:sys_enter_read
      WHERE fd > 2 AND pid <> 1 AND count > 100) AS a
CROSS JOIN (SELECT count(*) AS n FROM tracepoint:syscalls:sys_enter_read
            WHERE fd > 2 AND pid <> 1 AND count > 4096) AS b
WINDOW TUMBLING 1s
