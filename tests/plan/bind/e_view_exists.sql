CREATE VIEW v AS SELECT fd FROM t:syscalls:sys_enter_read;
CREATE VIEW v AS SELECT fd FROM t:syscalls:sys_enter_write;
