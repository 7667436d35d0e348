SELECT fd FROM tracepoint:syscalls:sys_enter_pread64 LIMIT -1
