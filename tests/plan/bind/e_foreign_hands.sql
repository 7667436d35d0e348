SELECT time_bucket('100ms', time), arg_min(fd, latency), any_value(fd) FROM syscall:read
