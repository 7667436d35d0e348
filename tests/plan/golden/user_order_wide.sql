SELECT comm, sum(count) AS n, sum(count) / 2 FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY comm HAVING count(*) > 3 ORDER BY n DESC LIMIT 3
