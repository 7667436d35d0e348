SELECT id[0], args[6], args[-1], args[1.5], args FROM tracepoint:raw_syscalls:sys_enter
