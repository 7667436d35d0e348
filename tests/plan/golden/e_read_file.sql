SELECT file_name(), file_name(comm), file_name(task), file_name(fd, 256), file_path(fd, 20), file_path(fd, 1, 2), file_name(DISTINCT fd) FROM tracepoint:syscalls:sys_enter_read
