SELECT comm, count(*) AS n FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY comm WINDOW TUMBLING 1s HAVING n > 100 ORDER BY n DESC LIMIT 3
