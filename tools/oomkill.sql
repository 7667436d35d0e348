#!/usr/bin/env ebql
-- Which processes does the kernel kill for want of memory?
--
-- As the victim is chosen; current.comm is who asked for the memory.  Costs nothing otherwise.  Its
-- cost was not measured.  Answers tested on 6.18.
-- Rate: a victim: none a day where memory suffices, up to some a second where it does not.
SELECT time, m.pid AS victim, current.pid AS pid, current.comm AS comm
FROM tracepoint:oom:mark_victim AS m
