SELECT dport, histogram(latency) FROM tcp_life GROUP BY dport WINDOW TUMBLING 1s
