SELECT max(latency * latency) AS squared, max(latency * 2) AS twice FROM syscall:read
