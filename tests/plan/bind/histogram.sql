SELECT fd, histogram(count), histogram(count, exponential(2)) AS h2, histogram(count, loglinear(7)), histogram(count, linear(-10, 4KiB, 16)),
histogram(count, bounds(-1, 2, 5)), histogram(count, log2) FILTER (WHERE fd > 2) FROM t:syscalls:sys_enter_pread64 GROUP BY fd WINDOW TUMBLING 1s
