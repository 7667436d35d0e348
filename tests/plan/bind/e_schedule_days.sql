SELECT count(*) FROM tracepoint:sched:sched_switch WITH (days = 'mon-freitag')
