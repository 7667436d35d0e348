SET state = table; SELECT fd & 15, count(*) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY 1
