#!/usr/bin/env ebql
-- How long does block I/O take?
--
-- From where the driver gets a request to its completion, by disk and kind of request (R, W, S for
-- synchronous, M for metadata, ...); the view block_io says what is not seen.  Measured on 6.18: 495 ns a run.  Answers tested on 6.1, 6.12 and 6.18.
-- Rate: two a request: tens a second on a quiet disk, up to millions on fast ones.
--
-- :interval DURATION = 1s      the length of a window
-- :count    INTEGER  = 0       end after so many whole windows; 0: go on
-- :disk     TEXT     = NULL    only of this disk, as vda
-- :queued   BOOLEAN  = false   from where an I/O scheduler queued it, if one did
SET windows = :count;
SELECT disk_name(dev) AS disk, rwbs,
	histogram(iif(:queued, latency + coalesce(queue_time, 0ns), latency)) AS latency
FROM block_io
WHERE :disk IS NULL OR disk_name(dev) = :disk
GROUP BY dev, rwbs WINDOW TUMBLING :interval
