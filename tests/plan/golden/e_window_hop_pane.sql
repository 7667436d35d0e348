SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW HOPPING 10.5ms BY 10ms
