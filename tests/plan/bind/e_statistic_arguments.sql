SELECT quantile(count), histogram(), p50(count, 0.5), percentile_cont(0.5), quantile(count, 0.5, 0.9) FROM t:syscalls:sys_enter_read
