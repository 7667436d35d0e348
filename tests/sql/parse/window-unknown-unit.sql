SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING (SIZE 3 FORTNIGHTS);
SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING 3 parsecs GROUP BY pid;
SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING 3 GROUP BY pid
