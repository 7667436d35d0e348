SELECT time FROM tracepoint:sched:sched_wakeup WHERE count(*) OVER () > 3
