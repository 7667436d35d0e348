SELECT fd, UNNEST(top_k(comm, 3)) AS who FROM t:syscalls:sys_enter_read GROUP BY fd LIMIT 10
