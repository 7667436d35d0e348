SELECT str(filename), count(*) FROM tracepoint:syscalls:sys_enter_openat GROUP BY filename
