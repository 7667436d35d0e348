SELECT str(x.filename + y.flags) FROM tracepoint:syscalls:sys_enter_openat AS x
JOIN tracepoint:syscalls:sys_enter_openat AS y ON x.dfd = y.dfd
