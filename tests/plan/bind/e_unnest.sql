SELECT UNNEST(count), 1 + UNNEST(histogram(count)), UNNEST(histogram(count)), UNNEST(histogram(fd)) FROM t:syscalls:sys_enter_read
