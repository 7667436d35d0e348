#!/usr/bin/env ebql
-- How often is what is read or written in the page cache already?
--
-- Looked up and marked: folio_mark_accessed() (mark_page_accessed()); added: pages that were not
-- there; dirtied: folios made dirty. hits are those looked up that were not added just then.  Its cost
-- was not measured.  Answers tested on 6.1 and 6.12.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many windows; 0: go on
SET windows = :count;
SELECT max(sum(a.looked) - sum(a.added), 0) AS hits, sum(a.added) AS misses, sum(a.dirtied) AS dirtied
FROM (SELECT time, 1 AS looked, 0 AS added, 0 AS dirtied FROM kprobe:folio_mark_accessed
	UNION ALL SELECT time, 0, 1, 0 FROM tracepoint:filemap:mm_filemap_add_to_page_cache
	UNION ALL SELECT time, 0, 0, 1 FROM tracepoint:writeback:writeback_dirty_folio) AS a
WINDOW TUMBLING :interval
