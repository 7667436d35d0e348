#!/usr/bin/env ebql
-- Which calls of a function take too long?
--
-- A row a call, as it returns.  Its cost was not measured.  Answers tested on 6.1, 6.12 and 6.18.
-- Rate: two a call; vfs_read(): hundreds a second on a quiet machine, up to millions on a busy one.
--
-- :what  STREAM   = function:vfs_read   the function, or userfunction:FILE:NAME
-- :least DURATION = 1ms                 only calls as long
-- :pid   INTEGER  = NULL                only of this process; also -p PID
SELECT time, pid, comm, latency, ret FROM :what WHERE latency >= :least AND (:pid IS NULL OR current.pid = :pid)
