SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = 'nginx' OR comm = 5 OR comm + 1
