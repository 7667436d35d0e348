#!/usr/bin/env ebql
-- Which programs could not be started, why, and who wanted them?
--
-- Each execve() and execveat() that fails, as it returns.  A shell that looks for a program along
-- its PATH makes many.  The arguments are not shown: a list of addresses in a program's memory is
-- nothing that a query can follow to its end.  Measured on 6.18: 60 ns a run.  Answers tested on
-- 6.18.
-- Rate: a call, also one that succeeds: some a second, up to thousands as software is built.
--
-- :who TEXT    = NULL   only by programs of this name
-- :uid INTEGER = NULL   only by this user
-- :pid INTEGER = NULL   only by this process; also -p PID
SELECT time, pid, ppid, uid, comm, errno_name(ret) AS error, file FROM (
	SELECT a.time AS time, pid, ppid, uid, comm, ret, str(filename, 200) AS file FROM syscall:execve AS a
	UNION ALL
	SELECT b.time, pid, ppid, uid, comm, ret, str(filename, 200) FROM syscall:execveat AS b)
WHERE ret < 0 AND (:who IS NULL OR comm = :who) AND (:uid IS NULL OR uid = :uid) AND (:pid IS NULL OR pid = :pid)
