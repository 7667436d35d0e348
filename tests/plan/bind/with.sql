WITH big AS (SELECT fd, count FROM t:syscalls:sys_enter_read WHERE count > 10), small AS (SELECT fd + 1 AS g FROM big)
SELECT g FROM small WHERE g > 3
