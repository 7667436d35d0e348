SELECT histogram(ret, linear(-9223372036854775808, 5, 5)) FROM syscall:read
