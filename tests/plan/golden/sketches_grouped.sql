SELECT comm, first(fd), last(comm), stddev(count), approx_count_distinct(fd), top_k(fd, 10, count) FROM t:syscalls:sys_enter_read GROUP BY comm
