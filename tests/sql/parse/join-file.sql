SELECT s.fd, f.name FROM t:syscalls:sys_enter_read s JOIN 'names.csv' f ON s.fd = f.fd
