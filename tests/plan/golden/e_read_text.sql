SELECT str(comm), str(args[1], 900), str(12), str(length(comm)), str(args) FROM tracepoint:raw_syscalls:sys_enter
