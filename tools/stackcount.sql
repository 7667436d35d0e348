#!/usr/bin/env ebql
-- By which ways does the kernel come to an event?
--
-- The kernel's stacks at it, and how often each.  About 1 us an event.  Tried on 6.1, 6.12 and 6.18.
--
-- :what STREAM = tracepoint:sched:sched_switch   the event
SELECT kstack, count(*) AS n FROM :what GROUP BY kstack
