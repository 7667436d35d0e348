SELECT n FROM (SELECT count(*) AS n FROM t:syscalls:sys_enter_read)
