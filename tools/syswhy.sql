#!/usr/bin/env ebql
-- Were slow system calls preempted, blocked, or did they run?
--
-- Each call that took as long as :least: the time that its thread was off the CPU though it could
-- have run, the time that it waited for something, and the rest.  Calls under way at the start are
-- not seen.  Measured on 6.18: 73 ns a run.  Answers tested on 6.1 and 6.12.
-- Rate: two a call, and each switch and wake-up: hundreds a second, up to a million on a busy CPU.
--
-- :who   TEXT     = NULL                                   only of programs of this name
-- :least DURATION = 1ms                                    only calls as long
-- :call  STREAM   = syscall:sendto                         the call,
-- :enter STREAM   = tracepoint:syscalls:sys_enter_sendto   its entry,
-- :leave STREAM   = tracepoint:syscalls:sys_exit_sendto    and its return
SELECT tid, called, sum(span) AS latency, sum(preempted) AS preempted, sum(blocked) AS blocked,
	sum(span) - sum(preempted) - sum(blocked) AS running, count(*) - 1 AS times_off
FROM (SELECT tid, start_time AS called, latency AS span, 0ns AS preempted, 0ns AS blocked
	FROM :call WHERE latency >= :least AND (:who IS NULL OR comm = :who)
	UNION ALL
	SELECT o.tid, e.time, 0ns, iif(o.preempted, o.latency, 0ns), iif(o.preempted, 0ns, o.latency)
	FROM (SELECT * FROM off_cpu WHERE :who IS NULL OR comm = :who) AS o
	ASOF JOIN :enter AS e ON o.tid = e.tid AND o.time >= e.time
	ASOF LEFT JOIN :leave AS x ON o.tid = x.tid AND o.time >= x.time
	WHERE o.start_time >= e.time AND (x.time IS NULL OR x.time < e.time)) AS r
GROUP BY tid, called HAVING sum(span) > 0ns ORDER BY latency DESC
