CREATE VIEW v AS SELECT fdd FROM t:syscalls:sys_enter_read;
SELECT fd FROM v
