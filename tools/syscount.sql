#!/usr/bin/env ebql
-- Which system calls are made, and by whom most?
--
-- Calls as they begin, of all processes.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many windows; 0: go on
-- :top      INTEGER  = 10   so many lines
SET windows = :count;
SELECT comm, count(*) AS calls FROM raw_tracepoint:sys_enter
GROUP BY comm WINDOW TUMBLING :interval ORDER BY calls DESC LIMIT :top
