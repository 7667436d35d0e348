SELECT syscall_name(comm), task_state(), sycall_name(fd) FROM t:syscalls:sys_enter_read
