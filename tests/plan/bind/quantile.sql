SELECT quantile(latency, 0.123456789), quantiles(latency, 0.5, 0.99, 1, .999, loglinear(7)), p50(latency), p90(latency, log2), p95(latency), p99(latency), p999(latency),
quantile_lo(latency, 0.99), quantile_hi(latency, 0.99), percentile_cont(0.25) WITHIN GROUP (ORDER BY latency DESC) FROM syscall:read WINDOW TUMBLING 1s
