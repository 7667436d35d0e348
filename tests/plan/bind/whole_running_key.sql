SELECT SUM(1) OVER (PARTITION BY upper(comm)) FROM tracepoint:sched:sched_wakeup
