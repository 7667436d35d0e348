SELECT 5ns, 20us, 20µs, 20μs, 1.5ms, 2s, 1m, 1h, 1d, 0s, 0.3s, 1500us, 1MS
