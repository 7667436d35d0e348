#!/usr/bin/env ebql
-- What is mounted and unmounted, where, and does it work?
--
-- Each mount() and umount() as it returns; ret is below 0 where it failed.  What mount(8) of
-- util-linux 2.39 and later does by move_mount() is not seen.  Costs nothing but then where fentry
-- is there.  Measured on 6.18: 44 ns a run.  Answers tested on 6.18.
-- Rate: a call: some a day, up to hundreds a second as containers start.
SELECT time, pid, comm, call, ret, source, target, type FROM (
	SELECT m.time AS time, pid, comm, 'mount' AS call, m.ret AS ret, str(m.dev_name, 60) AS source,
		str(m.dir_name, 60) AS target, str(m.type, 16) AS type FROM syscall:mount AS m
	UNION ALL
	SELECT u.time, pid, comm, 'umount', u.ret, NULL, str(u.name, 60), NULL FROM syscall:umount AS u)
