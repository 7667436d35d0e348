SELECT SUM(comm) OVER () FROM tracepoint:sched:sched_wakeup
