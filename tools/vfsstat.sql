#!/usr/bin/env ebql
-- How many reads, writes, opens, creates and syncs of files are there?
--
-- Calls of vfs_read() and its kin; a file that open() makes is no create.  Its cost was not measured.
-- Answers tested on 6.1 and 6.12.
-- Rate: a call: thousands a second on a quiet machine, up to millions on a busy one.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT sum(a.read) AS reads, sum(a.write) AS writes, sum(a.open) AS opens, sum(a.create) AS creates,
	sum(a.sync) AS syncs
FROM (SELECT time, 1 AS read, 0 AS write, 0 AS open, 0 AS "create", 0 AS sync FROM kprobe:vfs_read
	UNION ALL SELECT time, 0, 1, 0, 0, 0 FROM kprobe:vfs_write
	UNION ALL SELECT time, 0, 0, 1, 0, 0 FROM kprobe:vfs_open
	UNION ALL SELECT time, 0, 0, 0, 1, 0 FROM kprobe:vfs_create
	UNION ALL SELECT time, 0, 0, 0, 0, 1 FROM kprobe:vfs_fsync_range) AS a
WINDOW TUMBLING :interval
