SELECT * FROM (SELECT pid, tid AS pid FROM tracepoint:sched:sched_switch) AS s
