#!/usr/bin/env ebql
-- Who sleeps on purpose, and for how long?
--
-- Each nanosleep() and clock_nanosleep() as it returns: asked is what the caller wanted (of an
-- absolute time: until when), slept what it got.  Costs nothing but at these calls where fentry is
-- there.  Measured on 6.18: 40 ns a run.  Answers tested on 6.18.
-- Rate: a call: tens a second, up to tens of thousands where threads poll.
--
-- :pid INTEGER = NULL   only of this process; also -p PID
SELECT time, pid, comm, ppid, asked, slept FROM (
	SELECT s.time AS time, pid, comm, ppid, latency AS slept,
		(user(rqtp, 'struct __kernel_timespec').tv_sec * 1000000000 +
		 user(rqtp, 'struct __kernel_timespec').tv_nsec)::DURATION AS asked
	FROM syscall:clock_nanosleep AS s
	UNION ALL
	SELECT n.time, pid, comm, ppid, latency,
		(user(rqtp, 'struct __kernel_timespec').tv_sec * 1000000000 +
		 user(rqtp, 'struct __kernel_timespec').tv_nsec)::DURATION
	FROM syscall:nanosleep AS n)
WHERE :pid IS NULL OR pid = :pid
