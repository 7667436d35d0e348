SELECT count(*), sum(count), min(pos), max(pos), avg(count) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING 1s
