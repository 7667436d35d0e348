#!/usr/bin/env ebql
-- How many processes and threads are started?
--
-- Each fork, vfork and clone.  Costs nothing but at these.  Measured on 6.18: 216 ns a run. Answers
-- tested on 6.18.
-- Rate: a process or thread: some a second, up to thousands as software is built.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT count(*) AS started FROM tracepoint:sched:sched_process_fork WINDOW TUMBLING :interval
