SELECT pid, comm, histogram(latency) FROM tcp_connect GROUP BY pid, comm WINDOW TUMBLING 1s
