SELECT comm, task_state(state), histogram(latency) FROM off_cpu WHERE pid = 7 GROUP BY comm, task_state(state) WINDOW TUMBLING 1s
