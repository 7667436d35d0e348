#!/usr/bin/env ebql
-- How often is what is read or written in the page cache already?
--
-- In folios, of which one has many pages where a file system takes large ones.  misses: added, also
-- ahead of who reads them, but for those of writes; made: added by a write, which is when the thread
-- that added one makes it dirty before it adds another; hits: marked as read (folio_mark_accessed())
-- without the misses; dirtied: made dirty.  What is read once more where the last read of the same file
-- ended is not marked.  Its cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: one or more a folio: hundreds a second, up to millions where much is read from the cache.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT max(sum(a.looked) - sum(a.added) + sum(a.made), 0) AS hits, sum(a.added) - sum(a.made) AS misses,
	sum(a.made) AS made, sum(a.dirtied) AS dirtied
FROM (SELECT time, 1 AS looked, 0 AS added, 0 AS made, 0 AS dirtied FROM kprobe:folio_mark_accessed
	UNION ALL SELECT time, 0, 1, 0, 0 FROM raw_tracepoint:mm_filemap_add_to_page_cache
	UNION ALL SELECT time, 0, 0, 0, 1 FROM raw_tracepoint:writeback_dirty_folio
	UNION ALL SELECT d.time, 0, 0, 1, 0 FROM raw_tracepoint:writeback_dirty_folio AS d
		ASOF JOIN raw_tracepoint:mm_filemap_add_to_page_cache AS n ON d.tid = n.tid AND d.time >= n.time
		WHERE d.folio = n.folio) AS a
WINDOW TUMBLING :interval
