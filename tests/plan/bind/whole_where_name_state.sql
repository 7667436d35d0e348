SELECT count(*) FROM tracepoint:sched:sched_switch WHERE task_state(prev_state) = 'sleeping'
