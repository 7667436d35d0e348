SELECT tid, comm, call, sum(span) AS latency,
       sum(preempted) AS preempted, sum(blocked) AS blocked,
       sum(span) - sum(preempted) - sum(blocked) AS running, count(*) - 1 AS times_off
FROM (
  SELECT tid, comm, start_time AS call, latency AS span, 0ns AS preempted, 0ns AS blocked
  FROM syscall:read WHERE latency > 5ms AND pid = target_pid()
  UNION ALL
  SELECT o.tid, o.comm, e.time, 0ns,
         iif(o.preempted, o.latency, 0ns), iif(o.preempted, 0ns, o.latency)
  FROM (SELECT * FROM off_cpu WHERE pid = target_pid()) AS o
  ASOF JOIN tracepoint:syscalls:sys_enter_read AS e ON o.tid = e.tid AND o.time >= e.time
  ASOF LEFT JOIN tracepoint:syscalls:sys_exit_read AS x ON o.tid = x.tid AND o.time >= x.time
  WHERE o.start_time >= e.time AND (x.time IS NULL OR x.time < e.time)
) AS r
GROUP BY tid, comm, call HAVING sum(span) > 0ns ORDER BY call LIMIT 6
