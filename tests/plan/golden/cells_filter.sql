SELECT count(*) FILTER (WHERE fd = 1) AS one, sum(count) FILTER (WHERE fd = 1), count(*) FROM tracepoint:syscalls:sys_enter_pread64
