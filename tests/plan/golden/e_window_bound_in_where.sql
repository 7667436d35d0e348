SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE window_start > 0 WINDOW TUMBLING 1s
