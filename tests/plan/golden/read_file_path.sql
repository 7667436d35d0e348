SELECT file_path(ret) AS path, file_path(ret, 40) FROM tracepoint:syscalls:sys_exit_openat
