SELECT cpu, count(*) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY cpu WINDOW TUMBLING 1s
