SELECT fd, sum(count) / count(*) AS mean, round(avg(count), 1) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY fd
