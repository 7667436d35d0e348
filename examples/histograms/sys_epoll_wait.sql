-- How long epoll_wait takes.
SELECT histogram(latency) AS latency FROM syscall:epoll_wait
WINDOW TUMBLING 1s
