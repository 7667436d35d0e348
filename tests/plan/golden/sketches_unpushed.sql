SELECT fd, first(comm), top_k(comm, 2, count), approx_count_distinct(tid), stddev(count) FROM t:syscalls:sys_enter_read GROUP BY fd WITH (pushdown = off)
