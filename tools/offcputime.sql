#!/usr/bin/env ebql
-- Where do threads wait, and for how long in all?
--
-- From the sched_switch away from a thread to the one back to it, with the stack that it left with;
-- -o folded and -o flamegraph draw them, in ns.  About 2 us a switch.  Tried on 6.1, 6.12 and 6.18.
--
-- :least DURATION = 1us    only waits as long
-- :who   TEXT     = NULL   only of threads of this name
SELECT a.prev_comm AS comm, a.ustack AS ustack, a.kstack AS kstack, sum(b.time - a.time) AS off_cpu
FROM tracepoint:sched:sched_switch AS b
PAIR JOIN tracepoint:sched:sched_switch AS a ON b.next_pid = a.prev_pid
WHERE b.next_pid <> 0 AND b.time - a.time >= :least AND (:who IS NULL OR a.prev_comm = :who)
GROUP BY a.prev_comm, a.ustack, a.kstack
