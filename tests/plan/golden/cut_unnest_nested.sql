SELECT comm, sum(h_count) FROM (SELECT comm, UNNEST(histogram(latency)) AS h FROM syscall:read GROUP BY comm) WHERE h_lo >= 1ms GROUP BY comm WINDOW TUMBLING 1s
