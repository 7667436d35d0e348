SELECT count(*) FROM tracepoint:sched:sched_swich
