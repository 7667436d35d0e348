#!/usr/bin/env ebql
-- Which locks of the kernel are waited for, by which code, and how long?
--
-- From contention_begin to contention_end of the same thread, with the stack that waits; spinning
-- and sleeping alike.  Needs Linux 5.19.  Measured on 6.18: 759 ns a run. Answers tested on 6.18.
-- Rate: two a wait: some a second, up to hundreds of thousands on each CPU where many want one lock.
--
-- :pid INTEGER = NULL   only of this process; also -p PID
SELECT b.kstack AS kstack, count(*) AS waits, sum(e.time - b.time) AS total, max(e.time - b.time) AS longest
FROM tracepoint:lock:contention_end AS e
PAIR JOIN tracepoint:lock:contention_begin AS b ON e.tid = b.tid AND e.lock_addr = b.lock_addr
WHERE :pid IS NULL OR b.pid = :pid
GROUP BY b.kstack
