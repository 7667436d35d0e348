CREATE VIEW reads AS SELECT fd FROM t:syscalls:sys_enter_read;
SELECT fd FROM raeds
