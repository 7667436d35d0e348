SELECT f, count(*) FROM (SELECT fd AS f, count AS n FROM t:syscalls:sys_enter_read WHERE count > 10) WHERE n < 100 GROUP BY f
