#!/usr/bin/env ebql
-- How long do threads that could run wait for a CPU?
--
-- From wake-up, or from losing the CPU, to having it, as in the view run_queue, which says what is
-- not seen; here with the process.  Measured on 6.18: 1352 ns a run.  Answers tested on 6.18.
-- Rate: a switch or wake-up: hundreds a second on a quiet CPU, up to a million on a busy one.
--
-- :interval  DURATION = 1s      the length of a window
-- :count     INTEGER  = 0       end after so many whole windows; 0: go on
-- :who       TEXT     = NULL    only of threads of this name
-- :tid       INTEGER  = NULL    only of this thread
-- :pid       INTEGER  = NULL    only of this process; also -p PID
-- :processes BOOLEAN  = false   each process by itself
-- :threads   BOOLEAN  = false   each thread by itself
SET windows = :count;
SELECT iif(:processes OR :threads, pid, NULL) AS process, iif(:threads, tid, NULL) AS thread,
	histogram(latency) AS waited
FROM (
	SELECT s.time AS time, s.next_pid AS tid, b.process AS pid, s.next_comm AS comm, s.cpu AS cpu,
		s.time - b.time AS latency, b.preempted AS preempted
	FROM tracepoint:sched:sched_switch AS s ASOF JOIN (
		SELECT time, p.pid AS thread, p.tgid AS process, FALSE AS preempted FROM raw_tracepoint:sched_wakeup
		UNION ALL SELECT time, p.pid, p.tgid, FALSE FROM raw_tracepoint:sched_wakeup_new
		UNION ALL SELECT time, prev_pid, task.tgid, TRUE FROM tracepoint:sched:sched_switch
			WHERE prev_pid <> 0 AND prev_state & 255 = 0) AS b
	ON s.next_pid = b.thread AND s.time >= b.time WHERE s.next_pid <> 0)
WHERE (:who IS NULL OR comm = :who) AND (:tid IS NULL OR tid = :tid) AND (:pid IS NULL OR pid = :pid)
GROUP BY process, thread WINDOW TUMBLING :interval
