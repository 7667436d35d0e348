SELECT abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(pos)))))))))))))))))))) FROM tracepoint:syscalls:sys_enter_pread64
