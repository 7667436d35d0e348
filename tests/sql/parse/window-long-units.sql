SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING (SIZE 1 YEAR);
SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING 2 months;
SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING (SIZE 1 WEEK);
SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING INTERVAL '1' MONTH;
SELECT 1w, 1y, 0.5y FROM tracepoint:syscalls:sys_enter_pread64
