SET max_cpu = '1'; SELECT count(*) FROM tracepoint:sched:sched_switch WITH (max_cpu = '0.001%')
