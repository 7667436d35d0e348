SELECT quantile(histogram_merge(h), 0.99) FROM (SELECT pid, histogram(latency) AS h FROM syscall:read GROUP BY pid) WINDOW TUMBLING 1s
