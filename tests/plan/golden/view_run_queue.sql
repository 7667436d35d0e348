SELECT preempted, count(*), histogram(latency) FROM run_queue WHERE tid = 7 GROUP BY preempted WINDOW TUMBLING 1s
