SELECT pid_in_ns(4, 4026532177) AS there, pid_in_ns(4, 4026531836) AS here, count(*)
FROM syscall:read WHERE pid_in_ns(4, 4026532177) IN (1, 7) AND pid > 1 GROUP BY there, here
