#!/usr/bin/env ebql
-- Which files are opened, by whom, and does it work?
--
-- Each open(), openat() and openat2() as it returns; fd is below 0 where it failed: the error's
-- number.  A name is cut behind 255 bytes.  Measured on 6.18: 61 ns a run.  Answers tested on 6.18.
-- Rate: a call: tens a second, up to hundreds of thousands as many files are looked at.
--
-- :failed BOOLEAN = false   only the calls that failed
-- :who    TEXT    = NULL    only of programs of this name
-- :pid    INTEGER = NULL    only of this process; also -p PID
-- :tid    INTEGER = NULL    only of this thread
-- :uid    INTEGER = NULL    only of this user
-- :flag   TEXT    = NULL    only with this flag, as O_CREAT
SELECT time, pid, uid, comm, fd, open_flags(bits) AS flags, file FROM (
	SELECT a.time AS time, pid, tid, uid, comm, ret AS fd, flags AS bits, str(filename, 255) AS file
	FROM syscall:openat AS a
	UNION ALL
	SELECT b.time, pid, tid, uid, comm, ret, flags, str(filename, 255) FROM syscall:open AS b
	UNION ALL
	SELECT c.time, pid, tid, uid, comm, ret, user(how, 'struct open_how').flags & 0xffffffff,
		str(filename, 255)
	FROM syscall:openat2 AS c)
WHERE (NOT :failed OR fd < 0) AND (:who IS NULL OR comm = :who) AND (:pid IS NULL OR pid = :pid)
	AND (:tid IS NULL OR tid = :tid) AND (:uid IS NULL OR uid = :uid)
	AND (:flag IS NULL OR '|' || open_flags(bits) || '|' LIKE '%|' || :flag || '|%')
