SET access_path = fast; SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WITH (max_groups = 0)
