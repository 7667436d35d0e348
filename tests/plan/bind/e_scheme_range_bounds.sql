SELECT histogram(ret, bounds(1, 9223372036854775808)) FROM syscall:read
