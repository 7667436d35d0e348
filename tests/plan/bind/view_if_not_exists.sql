CREATE VIEW v AS SELECT pid FROM tracepoint:sched:sched_switch;
CREATE TEMP VIEW IF NOT EXISTS v AS SELECT tid FROM tracepoint:sched:sched_switch;
CREATE TEMPORARY VIEW w AS SELECT * FROM v;
DROP VIEW IF EXISTS no_such_view;
SELECT * FROM w
