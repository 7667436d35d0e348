SELECT p50(count), quantiles(count, 0.9, 0.99), histogram(count, exponential(3)), quantile_hi(count, 0.5), histogram(count) FROM t:syscalls:sys_enter_read WINDOW TUMBLING 10ms
