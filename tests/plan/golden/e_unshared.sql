SELECT fd FROM tracepoint:syscalls:sys_enter_*
