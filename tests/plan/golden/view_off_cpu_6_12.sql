-- catalog kernel-6.12
SELECT comm, task_state(state), preempted, histogram(latency) FROM off_cpu GROUP BY 1, 2, 3 WINDOW TUMBLING 1s
