SELECT comm, UNNEST(top_k(fd, 3, count)) FROM t:syscalls:sys_enter_read GROUP BY comm HAVING comm IN (SELECT comm FROM t:syscalls:sys_enter_write GROUP BY comm) ORDER BY count(*) WINDOW TUMBLING 1s
