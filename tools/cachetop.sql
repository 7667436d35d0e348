#!/usr/bin/env ebql
-- Which programs find what they read and write in the page cache?
--
-- As cachestat, which says what is counted, by process, in folios.  Its cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: one or more a folio: hundreds a second, up to millions where much is read from the cache.
--
-- :interval DURATION = 5s     the length of a window
-- :count    INTEGER  = 0      end after so many whole windows; 0: go on
-- :pid      INTEGER  = NULL   only of this process; also -p PID
SET windows = :count;
SELECT pid, comm, max(sum(looked) - sum(added) + sum(made), 0) AS hits, sum(added) - sum(made) AS misses,
	sum(made) AS made, sum(dirtied) AS dirtied
FROM (SELECT a.time AS time, pid, comm, 1 AS looked, 0 AS added, 0 AS made, 0 AS dirtied
	FROM kprobe:folio_mark_accessed AS a
	UNION ALL SELECT b.time, pid, comm, 0, 1, 0, 0 FROM raw_tracepoint:mm_filemap_add_to_page_cache AS b
	UNION ALL SELECT c.time, pid, comm, 0, 0, 0, 1 FROM raw_tracepoint:writeback_dirty_folio AS c
	UNION ALL SELECT d.time, d.pid, d.comm, 0, 0, 1, 0 FROM raw_tracepoint:writeback_dirty_folio AS d
		ASOF JOIN raw_tracepoint:mm_filemap_add_to_page_cache AS n ON d.tid = n.tid AND d.time >= n.time
		WHERE d.folio = n.folio)
WHERE :pid IS NULL OR pid = :pid
GROUP BY pid, comm WINDOW TUMBLING :interval ORDER BY hits + misses DESC
