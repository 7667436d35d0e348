SELECT CAST(NULL AS 's32') AS a, CAST(NULL AS 'struct sock *') IS NULL AS b, CAST(NULL AS 'u64') + pid AS c FROM syscall:read
