SELECT count(*) FROM t:sched:sched_switch a PAIR JOIN t:sched:sched_process_exec b ON a.next_comm = b.filename
