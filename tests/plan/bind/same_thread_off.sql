SET rules_off = 'same_thread';
SELECT count(*) FROM syscall:pread64 WHERE pid = 42 AND latency > 1ms
