SELECT fd, histogram(latency) FROM syscall:pread64 WHERE task.se.cfs_rq.rq.nr_running > 2 GROUP BY fd
