SELECT comm, str(filename, 100) AS name, latency FROM syscall:openat WHERE ret < 0 AND str(filename) LIKE '/tmp/%'
