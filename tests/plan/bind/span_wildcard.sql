SELECT probe, syscall_name(nr) AS name, ret, latency, start_time FROM syscall:*
