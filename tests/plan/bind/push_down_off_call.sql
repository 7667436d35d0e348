SET rules_off = 'push_down';
SELECT count(*) FROM syscall:pread64 WHERE pid = 42 AND latency > 1ms
