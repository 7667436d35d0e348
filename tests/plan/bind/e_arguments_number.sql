SELECT coalesce(fd), substr('a'), substr(comm, 1, 2, 3), char(), lag() OVER () FROM tracepoint:syscalls:sys_enter_pread64
