#!/usr/bin/env ebql
-- Which files are opened, by whom, and does it work?
--
-- Each open(), openat() and openat2() as it returns; fd is below 0 where it failed: the error's
-- number.  A name is cut behind 255 bytes.  Measured on 6.18: 65 ns a run. Answers tested on 6.18.
--
-- :failed BOOLEAN = false   only the calls that failed
-- :who    TEXT    = NULL    only of programs of this name
-- :pid    INTEGER = NULL    only of this process; also -p PID
SELECT time, pid, comm, fd, file FROM (
	SELECT a.time AS time, pid, comm, ret AS fd, str(filename, 255) AS file FROM syscall:openat AS a
	UNION ALL
	SELECT b.time, pid, comm, ret, str(filename, 255) FROM syscall:open AS b
	UNION ALL
	SELECT c.time, pid, comm, ret, str(filename, 255) FROM syscall:openat2 AS c)
WHERE (NOT :failed OR fd < 0) AND (:who IS NULL OR comm = :who) AND (:pid IS NULL OR pid = :pid)
