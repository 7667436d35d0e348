SELECT str(filename) AS name, count(*) AS n FROM tracepoint:syscalls:sys_enter_openat
WHERE str(filename, 5) = '/etc/' GROUP BY name
