SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE comm LIKE '%xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx%'
