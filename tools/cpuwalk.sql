#!/usr/bin/env ebql
-- Which CPUs are busy?
--
-- Samples of all CPUs that do not idle.  About 10 us a sample, 0.1 % of each CPU.
-- Tried on 6.1, 6.12 and 6.18.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many windows; 0: go on
SET windows = :count;
SELECT cpu, count(*) AS samples FROM profile:99 WHERE tid <> 0
GROUP BY cpu WINDOW TUMBLING :interval ORDER BY cpu
