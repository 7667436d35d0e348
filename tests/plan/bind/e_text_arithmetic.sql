SELECT 1 + '2', comm * 2, comm + comm, '1s' - time FROM tracepoint:syscalls:sys_enter_pread64
