SELECT fd, UNNEST(histogram(count, linear(-100, 100, 10))) AS h FROM t:syscalls:sys_enter_read GROUP BY fd
