#!/usr/bin/env ebql
-- How long does block I/O take, as quantiles with bounds that surely hold?
--
-- As biolatency, by disk, in 128 cells for each power of two: an estimate is at most 0.8 % off, and
-- its bounds say how much.  Lost events widen them.  Measured on 6.18: 622 ns a run.  Answers
-- tested on 6.1 and 6.12.
-- Rate: two a request: tens a second on a quiet disk, up to millions on fast ones.
--
-- :interval DURATION = 1s     the length of a window
-- :count    INTEGER  = 0      end after so many whole windows; 0: go on
-- :disk     TEXT     = NULL   only of this disk, as vda
SET windows = :count;
SELECT disk_name(dev) AS disk, count(*) AS n, quantiles(latency, 0.5, 0.99, 0.999, loglinear(7)) AS latency,
	max(latency) AS longest
FROM block_io WHERE :disk IS NULL OR disk_name(dev) = :disk
GROUP BY dev WINDOW TUMBLING :interval ORDER BY n DESC
