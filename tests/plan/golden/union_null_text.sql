SELECT comm AS c FROM tracepoint:sched:sched_wakeup UNION ALL SELECT NULL FROM tracepoint:sched:sched_waking
