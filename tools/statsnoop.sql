#!/usr/bin/env ebql
-- Who asks for which files' properties?
--
-- Each stat(), lstat(), newfstatat() and statx() as it returns; ret is below 0 where it failed.
-- Measured on 6.18: 77 ns a run.  Answers tested on 6.18.
-- Rate: a call: tens a second, up to hundreds of thousands as many files are looked at.
--
-- :failed BOOLEAN = false   only the calls that failed
-- :pid    INTEGER = NULL    only of this process; also -p PID
SELECT time, pid, comm, ret, file FROM (
	SELECT a.time AS time, pid, comm, ret, str(a.filename, 255) AS file FROM syscall:newfstatat AS a
	UNION ALL
	SELECT b.time, pid, comm, ret, str(b.filename, 255) FROM syscall:statx AS b
	UNION ALL
	SELECT c.time, pid, comm, ret, str(c.filename, 255) FROM syscall:newstat AS c
	UNION ALL
	SELECT d.time, pid, comm, ret, str(d.filename, 255) FROM syscall:newlstat AS d)
WHERE (NOT :failed OR ret < 0) AND (:pid IS NULL OR pid = :pid)
