SELECT time_bucket(time, 1s), time_bucket(0s, time), time_bucket(-1s, time) FROM syscall:read
