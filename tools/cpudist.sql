#!/usr/bin/env ebql
-- How long do threads stay on a CPU once they have it?
--
-- From the sched_switch to a thread to the one away from it on the same CPU; the idle threads are
-- left out.  Measured on 6.18: 164 ns a run.  Answers tested on 6.18.
-- Rate: a switch: hundreds a second on a quiet CPU, up to hundreds of thousands on a busy one.
--
-- :interval DURATION = 1s     the length of a window
-- :count    INTEGER  = 0      end after so many whole windows; 0: go on
-- :who      TEXT     = NULL   only of threads of this name
-- :pid      INTEGER  = NULL   only of this process; also -p PID
SET windows = :count;
SELECT histogram(b.time - a.time) AS on_cpu
FROM tracepoint:sched:sched_switch AS b
PAIR JOIN tracepoint:sched:sched_switch AS a ON b.prev_pid = a.next_pid AND b.cpu = a.cpu
WHERE b.prev_pid <> 0 AND (:who IS NULL OR b.prev_comm = :who) AND (:pid IS NULL OR b.pid = :pid)
WINDOW TUMBLING :interval
