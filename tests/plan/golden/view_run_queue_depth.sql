SELECT cpu, histogram(depth, bounds(1,2,5,9,17,33,65)), quantiles(depth, 0.5, 0.99)
FROM run_queue_depth GROUP BY cpu WINDOW TUMBLING 1s
