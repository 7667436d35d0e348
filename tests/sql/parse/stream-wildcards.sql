SELECT probe, count(*) FROM tracepoint:syscalls:sys_enter_* GROUP BY probe;
SELECT 1 FROM tracepoint:*:sched_?witch;
SELECT 1 FROM tracepoint:sched:* /* all of it */ WHERE 1
