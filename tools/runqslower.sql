#!/usr/bin/env ebql
-- Which threads waited too long for a CPU?
--
-- A row a wait, as it ends; the view run_queue says what is not seen.
-- About 0.2 us a switch.  Tried on 6.1, 6.12 and 6.18.
--
-- :least DURATION = 10ms   only waits as long
SELECT time, comm, tid, cpu, latency, preempted FROM run_queue WHERE latency >= :least
