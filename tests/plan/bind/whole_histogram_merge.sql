SELECT quantile(histogram_merge(h), 0.99), histogram_merge(h) FROM (SELECT cpu, histogram(latency) AS h FROM syscall:read GROUP BY cpu)
