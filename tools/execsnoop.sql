#!/usr/bin/env ebql
-- Which programs are started, with which arguments, and by whom?
--
-- As the kernel has taken the new program: execfails has the calls that fail.  What is longer than
-- 200 bytes ends with "...".  Costs nothing but as programs are started.  Measured on 6.18: 1,780 ns
-- a run.  Answers tested on 6.18.
-- Rate: a program: some a second, up to thousands as software is built.
--
-- :who  TEXT    = NULL   only programs of this name
-- :ppid INTEGER = NULL   only those that this process started
-- :uid  INTEGER = NULL   only of this user
SELECT time, current.pid AS pid, ppid, uid, current.comm AS comm,
	strs(task.mm.arg_start, task.mm.arg_end, 200) AS argv
FROM tracepoint:sched:sched_process_exec
WHERE (:who IS NULL OR current.comm = :who) AND (:ppid IS NULL OR ppid = :ppid) AND (:uid IS NULL OR uid = :uid)
