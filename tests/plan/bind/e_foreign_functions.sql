SELECT median(latency), date_trunc('second', time), percentile(latency, 99) FROM syscall:read
