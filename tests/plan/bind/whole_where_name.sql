SELECT syscall_name(nr) AS s, count(*) FROM syscall:* WHERE s IN ('clone', 'fork') GROUP BY nr
