#!/usr/bin/env ebql
-- How often does the last level of the CPU's caches have what is wanted?
--
-- Every 10,000th reference and every 100th miss, by program; needs the CPU's counters, which many
-- virtual machines lack.  Its cost was not measured, and its answers are not tested: where it was tried
-- nothing counts.
-- Rate: a sample: thousands a second on a busy CPU, up to hundreds of thousands where most misses.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT comm, cpu, sum(a.refs) AS refs, sum(a.misses) AS misses
FROM (SELECT time, comm, cpu, 10000 AS refs, 0 AS misses FROM hardware:cache-references:10000
	UNION ALL SELECT time, comm, cpu, 0, 100 FROM hardware:cache-misses:100) AS a
GROUP BY comm, cpu WINDOW TUMBLING :interval ORDER BY misses DESC
