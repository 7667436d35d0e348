#!/usr/bin/env ebql
-- Which processes does the kernel kill for want of memory?
--
-- As the victim is chosen; current.comm is who asked for the memory.  Costs nothing otherwise.  Its
-- cost was not measured.  Answers tested on 6.18.
SELECT time, m.pid AS victim, current.pid AS pid, current.comm AS comm
FROM tracepoint:oom:mark_victim AS m
