SELECT quantile(count, 1.5), quantile(count, 0.1234567891), quantile(count, 5e-1), quantiles(count, 50), quantile(count, fd) FROM t:syscalls:sys_enter_read
