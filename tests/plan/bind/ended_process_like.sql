SELECT usym(buf) AS u, count(*) FROM syscall:read GROUP BY usym(buf) HAVING u LIKE 'b%'
