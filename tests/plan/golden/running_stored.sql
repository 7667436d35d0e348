SELECT s.cpu, s.next_comm, w.n FROM tracepoint:sched:sched_switch AS s
LEFT ASOF JOIN (
	SELECT time, pid AS tid, count(*) OVER (PARTITION BY pid) AS n
	FROM tracepoint:sched:sched_wakeup
) AS w ON s.next_pid = w.tid AND s.time >= w.time
