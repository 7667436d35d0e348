SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WITH (max_group = 1)
