SELECT q.pid FROM run_queue AS q PAIR JOIN (SELECT pid FROM syscall:read) AS "q" ON q.tid = q.pid
