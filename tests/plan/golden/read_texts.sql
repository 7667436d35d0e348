SELECT pid, strs(args[1]) AS argv, strs(args[0], args[1] + args[2], 20) FROM tracepoint:raw_syscalls:sys_enter
