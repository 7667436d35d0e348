SELECT histogram(count, linear(0, 1000000, 1)), histogram(count, logarithmic(3)), histogram(count, bounds(fd)), histogram(count, log2(3)), histogram(count, exponential) FROM t:syscalls:sys_enter_read
