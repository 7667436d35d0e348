SELECT fd.x FROM tracepoint:syscalls:sys_enter_pread64
