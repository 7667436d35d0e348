CREATE VIEW v AS SELECT prev_pid, next_pid AS prev_pid, cpu FROM tracepoint:sched:sched_switch;
SELECT v.prev_pid FROM v
