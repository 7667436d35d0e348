SELECT unnest(histogram(count, linear(0, 10, 1))) FROM t:syscalls:sys_enter_read
