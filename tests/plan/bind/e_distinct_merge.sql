SELECT histogram_merge(DISTINCT h) FROM (SELECT fd, histogram(latency) AS h FROM syscall:read GROUP BY fd) AS q
