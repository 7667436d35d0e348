#!/usr/bin/env ebql
-- Who becomes another user?
--
-- Each setuid(), setreuid(), setresuid() and setfsuid() as it returns.  wanted is the uid that was
-- asked for, of setreuid() and setresuid() the real one, effective their effective one; NULL: as it
-- was. uid and euid are the real and the effective one, as they are then.  Costs nothing but at
-- these calls where fentry is there.  Measured on 6.18: 39 ns a run.  Answers tested on 6.18.
-- Rate: a call: some a minute, up to hundreds a second where each log-in or job becomes its user.
--
-- :pid INTEGER = NULL   only of this process; also -p PID
SELECT time, pid, comm, call, nullif(wanted, 4294967295) AS wanted, nullif(effective, 4294967295) AS effective,
	ret, uid, euid
FROM (
	SELECT a.time AS time, pid, comm, 'setuid' AS call, a.uid AS wanted, NULL AS effective, ret,
		current.uid AS uid, task.cred.euid.val AS euid
	FROM syscall:setuid AS a
	UNION ALL
	SELECT b.time, pid, comm, 'setreuid', b.ruid, b.euid, ret, current.uid, task.cred.euid.val
	FROM syscall:setreuid AS b
	UNION ALL
	SELECT c.time, pid, comm, 'setresuid', c.ruid, c.euid, ret, current.uid, task.cred.euid.val
	FROM syscall:setresuid AS c
	UNION ALL
	SELECT d.time, pid, comm, 'setfsuid', d.uid, NULL, ret, current.uid, task.cred.euid.val
	FROM syscall:setfsuid AS d)
WHERE :pid IS NULL OR pid = :pid
