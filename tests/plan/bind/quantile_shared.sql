SELECT p50(count), quantile(count, 0.500), quantile(count, 0.5, exponential(3)), p50(count, log2) FROM t:syscalls:sys_enter_read
