#!/usr/bin/env ebql
-- Who becomes another user?
--
-- Each setuid(), setresuid() and setfsuid() as it returns: uid is the real one, as it is then.  Costs
-- nothing but at these calls.  Measured on 6.18: 1010.0 us an event, of 1.  Answers tested on 6.18.
SELECT time, pid, comm, call, wanted, ret, uid FROM (
	SELECT a.time AS time, pid, comm, 'setuid' AS call, a.uid AS wanted, ret,
		current.uid AS uid
	FROM syscall:setuid AS a
	UNION ALL
	SELECT b.time, pid, comm, 'setresuid', b.ruid, ret, current.uid FROM syscall:setresuid AS b
	UNION ALL
	SELECT c.time, pid, comm, 'setfsuid', c.uid, ret, current.uid FROM syscall:setfsuid AS c)
