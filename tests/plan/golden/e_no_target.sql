-- no target is named
SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = target_pid()
