#!/usr/bin/env ebql
-- Which threads waited too long for a CPU?
--
-- A row a wait, as it ends; the view run_queue says what is not seen.  Measured on 6.18: 144 ns a
-- run.  Answers tested on 6.18.
--
-- :least DURATION = 10ms   only waits as long
-- :tid   INTEGER  = NULL   only of this thread
SELECT time, comm, tid, cpu, latency, preempted FROM run_queue WHERE latency >= :least AND (:tid IS NULL OR tid = :tid)
