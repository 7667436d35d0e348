#!/usr/bin/env ebql
-- Who asks for which files' properties?
--
-- Each stat(), lstat(), newfstatat() and statx() as it returns; ret is below 0 where it failed.
-- Measured on 6.18: 49 ns a run.  Answers tested on 6.18.
--
-- :failed BOOLEAN = false   only the calls that failed
SELECT time, pid, comm, ret, file FROM (
	SELECT a.time AS time, pid, comm, ret, str(a.filename, 100) AS file FROM syscall:newfstatat AS a
	UNION ALL
	SELECT b.time, pid, comm, ret, str(b.filename, 100) FROM syscall:statx AS b
	UNION ALL
	SELECT c.time, pid, comm, ret, str(c.filename, 100) FROM syscall:newstat AS c
	UNION ALL
	SELECT d.time, pid, comm, ret, str(d.filename, 100) FROM syscall:newlstat AS d)
WHERE NOT :failed OR ret < 0
