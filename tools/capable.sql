#!/usr/bin/env ebql
-- Which capabilities are asked for, and has the process them?
--
-- Each check by the kernel; ret 0: it has it, below 0: it has not.  Costs nothing but at checks, of
-- which a system call may make several.  The tracepoint is there from 6.14 on; tried on 6.18.
-- Measured on 6.18: 291 ns a run.  Answers tested on 6.18.
-- Rate: a check: tens a second, up to hundreds of thousands where system calls make them.
--
-- :pid INTEGER = NULL   only of this process; also -p PID
SELECT time, pid, comm, uid, cap, capability_name(cap) AS name, ret FROM tracepoint:capability:cap_capable WHERE :pid IS NULL OR pid = :pid
