#!/usr/bin/env ebql
-- Which programs find what they read and write in the page cache?
--
-- As cachestat, by process: what it looked up and marked, and the pages added for it.  Its cost was
-- not measured.  Answers tested on 6.1 and 6.12.
--
-- :interval DURATION = 5s   the length of a window
-- :count    INTEGER  = 0    end after so many windows; 0: go on
SET windows = :count;
SELECT pid, comm, max(sum(looked) - sum(added), 0) AS hits, sum(added) AS misses, sum(dirtied) AS dirtied
FROM (SELECT a.time AS time, pid, comm, 1 AS looked, 0 AS added, 0 AS dirtied
	FROM kprobe:folio_mark_accessed AS a
	UNION ALL SELECT b.time, pid, comm, 0, 1, 0
	FROM tracepoint:filemap:mm_filemap_add_to_page_cache AS b
	UNION ALL SELECT c.time, pid, comm, 0, 0, 1 FROM tracepoint:writeback:writeback_dirty_folio AS c)
GROUP BY pid, comm WINDOW TUMBLING :interval ORDER BY hits + misses DESC
