-- every slow fsync, as it happens
SELECT time, pid, comm, fd, latency FROM syscall:fsync WHERE latency > 10ms;
