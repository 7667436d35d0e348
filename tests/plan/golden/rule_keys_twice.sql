SELECT fd, fd + 1 AS a, fd + 1 AS b, count(*) FROM t:syscalls:sys_enter_read GROUP BY fd, a, fd, b
