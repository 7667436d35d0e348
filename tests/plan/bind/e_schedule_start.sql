SELECT count(*) FROM tracepoint:sched:sched_switch WITH (start = '9am')
