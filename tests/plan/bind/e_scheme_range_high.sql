SELECT histogram(ret, linear(0, 18446744073709551615, 5)) FROM syscall:read
