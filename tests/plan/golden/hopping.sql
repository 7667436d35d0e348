SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW HOPPING 10s BY 1s
