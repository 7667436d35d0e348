-- Between the windows events are in none.
SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WINDOW(time, 1000, 5000)
