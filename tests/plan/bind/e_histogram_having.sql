SELECT fd FROM t:syscalls:sys_enter_read GROUP BY fd HAVING histogram(count) IS NULL
