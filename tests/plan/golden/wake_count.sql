SELECT fd, count(*) FILTER (WHERE latency > 1ms) AS slow FROM syscall:pread64 GROUP BY fd WINDOW TUMBLING 1m WITH (wake_count = 10)
