SELECT count(*) FROM syscall:pread64 WINDOW TUMBLING 1s WITH (wake_count = 10)
