SELECT avg(count), sum(count), count(*), stddev(count), p99(count), max(count) FROM tracepoint:syscalls:sys_enter_pread64
