SELECT SUM(count(*) OVER ()) OVER () FROM tracepoint:sched:sched_wakeup
