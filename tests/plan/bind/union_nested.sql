WITH u AS (SELECT fd, count AS n FROM t:syscalls:sys_enter_read UNION ALL SELECT fd, count FROM t:syscalls:sys_enter_write)
SELECT fd, n FROM (SELECT fd, n FROM u WHERE n > 5 UNION ALL SELECT fd, NULL FROM t:syscalls:sys_enter_fsync)
