#!/usr/bin/env ebql
-- How long does a function take?
--
-- From its entry to its return, of the kernel (function:NAME) or of a program
-- (userfunction:FILE:NAME).  Its cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: two a call; vfs_read(): hundreds a second on a quiet machine, up to millions on a busy one.
--
-- :what     STREAM   = function:vfs_read   the function
-- :interval DURATION = 1s                  the length of a window
-- :count    INTEGER  = 0                   end after so many whole windows; 0: go on
-- :pid      INTEGER  = NULL                only of this process; also -p PID
SET windows = :count;
SELECT histogram(latency) AS latency FROM :what
WHERE :pid IS NULL OR current.pid = :pid WINDOW TUMBLING :interval
