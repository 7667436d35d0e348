SELECT count(*) FROM tracepoint:sched:sched_switch WITH (stop = 905)
