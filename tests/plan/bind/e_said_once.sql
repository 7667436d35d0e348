SELECT nowhere AS a, a + 1 AS b FROM syscall:read ORDER BY a
