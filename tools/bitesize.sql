#!/usr/bin/env ebql
-- How large are the requests to the disks?
--
-- By the program that issued them, in bytes.  Measured on 6.18: 119 ns a run.  Answers tested on
-- 6.18.
-- Rate: one a request: tens a second on a quiet disk, up to millions on fast ones.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT r.comm AS comm, histogram(bytes) AS bytes FROM tracepoint:block:block_rq_issue AS r
GROUP BY r.comm WINDOW TUMBLING :interval
