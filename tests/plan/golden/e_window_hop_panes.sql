SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW HOPPING 1h BY 10ms
