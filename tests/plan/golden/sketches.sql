SELECT approx_count_distinct(fd), top_k(comm, 100), stddev_pop(fd), avg(fd) FROM t:syscalls:sys_enter_read WINDOW TUMBLING 1s
