#!/usr/bin/env ebql
-- Which processes end, after how long, and with what?
--
-- As the last thread of a process ends; of several that end at one time each is a row.  code: what it
-- returned, or signal: what ended it.
-- Costs nothing but as processes end.  Tried on 6.1, 6.12 and 6.18.
SELECT time, current.pid AS pid, ppid, current.comm AS comm,
	(time::INTEGER - task.group_leader.start_time)::DURATION AS age,
	task.signal.group_exit_code >> 8 & 255 AS code, task.signal.group_exit_code & 127 AS signal
FROM tracepoint:sched:sched_process_exit WHERE task.signal.live.counter = 0
