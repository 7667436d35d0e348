-- catalog kernel-6.12
SELECT preempted, count(*), histogram(latency) FROM run_queue GROUP BY preempted WINDOW TUMBLING 1s
