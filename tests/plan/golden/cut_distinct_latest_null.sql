SELECT DISTINCT next_pid, prev_comm, prev_state / next_pid AS x FROM tracepoint:sched:sched_switch GROUP BY next_pid WINDOW TUMBLING 1s
