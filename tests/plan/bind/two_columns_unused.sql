SELECT x FROM (SELECT pid, tid AS pid, cpu AS x FROM tracepoint:sched:sched_switch) AS s
