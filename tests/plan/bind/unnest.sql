SELECT fd, UNNEST(histogram(count)) AS h FROM t:syscalls:sys_enter_read GROUP BY fd
