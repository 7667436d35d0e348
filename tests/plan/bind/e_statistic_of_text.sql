SELECT histogram(comm), quantile(p50(count), 0.5) FROM t:syscalls:sys_enter_read
