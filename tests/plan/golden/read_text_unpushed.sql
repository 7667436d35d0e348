SET pushdown = off;
SELECT str(filename) AS name, flags FROM tracepoint:syscalls:sys_enter_openat WHERE str(filename) <> 'a'
