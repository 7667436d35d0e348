CREATE VIEW v AS SELECT pid FROM tracepoint:sched:sched_switch;
DROP VIEW IF EXISTS v;
SELECT * FROM v
