SELECT sum(count), avg(count), count(*), min(count), max(count), count(pos) FROM tracepoint:syscalls:sys_enter_pread64
