-- A: first.
CREATE VIEW a AS SELECT fd FROM t:syscalls:sys_enter_read;
CREATE VIEW b AS SELECT fd FROM a;
DROP VIEW a;
SHOW VIEWS
