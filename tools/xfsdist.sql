#!/usr/bin/env ebql
-- How long do operations on files of XFS take?
--
-- Reads, writes, opens and syncs, from the entry of XFS's function to its return.  Its cost was not
-- measured.  Answers tested on 6.1 and 6.12.
-- Rate: two a call: hundreds a second, up to millions where much is read from the cache.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT op, histogram(latency) AS latency FROM (
	SELECT 'read' AS op, latency, time FROM function:xfs_file_read_iter
	UNION ALL SELECT 'write', latency, time FROM function:xfs_file_write_iter
	UNION ALL SELECT 'open', latency, time FROM function:xfs_file_open
	UNION ALL SELECT 'sync', latency, time FROM function:xfs_file_fsync)
GROUP BY op WINDOW TUMBLING :interval
