#!/usr/bin/env ebql
-- Which functions of the file system's switch are called, and how often?
--
-- Each of vfs_*().  Its cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: a call: thousands a second on a quiet machine, up to millions on a busy one.
--
-- :interval DURATION = 1s     the length of a window
-- :count    INTEGER  = 0      end after so many whole windows; 0: go on
-- :pid      INTEGER  = NULL   only of this process; also -p PID
SET windows = :count;
SELECT probe, count(*) AS calls FROM kprobe:vfs_*
WHERE :pid IS NULL OR pid = :pid GROUP BY probe
WINDOW TUMBLING :interval ORDER BY calls DESC
