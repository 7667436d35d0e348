SELECT aa, bb, cc, dd, ee, ff, gg FROM tracepoint:syscalls:sys_enter_pread64
