SELECT strs(), strs(filename, 3), strs(filename, flags, 10, 3), strs(comm), strs(filename, filename, dfd) FROM tracepoint:syscalls:sys_enter_openat
