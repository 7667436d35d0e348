SELECT pid FROM (SELECT pid, tid AS PID FROM tracepoint:sched:sched_switch) AS s
