CREATE VIEW v AS SELECT fd FROM t:syscalls:sys_enter_read;
DROP VIEW v;
SELECT fd FROM v
