#!/usr/bin/env ebql
-- What do programs send by OpenSSL, before its encryption, and how much do they receive?
--
-- Each SSL_write() and SSL_write_ex() as it is called, with its text, which is cut behind 100 bytes and
-- ends at the first byte that is 0; each SSL_read() and SSL_read_ex() as it returns, without.
-- Costs nothing but then, 2 us a call.  Tried on 6.18.
SELECT time, pid, comm, call, bytes, data FROM (
	SELECT w.time AS time, pid, comm, 'write' AS call, w.arg2 AS bytes, str(w.arg1, 100) AS data
	FROM uprobe:libssl.so.3:SSL_write AS w
	UNION ALL
	SELECT x.time, pid, comm, 'write', x.arg2, str(x.arg1, 100) FROM uprobe:libssl.so.3:SSL_write_ex AS x
	UNION ALL
	SELECT r.time, pid, comm, 'read', r.ret, NULL FROM uretprobe:libssl.so.3:SSL_read AS r
	UNION ALL
	SELECT s.time, pid, comm, 'read', NULL, NULL FROM uretprobe:libssl.so.3:SSL_read_ex AS s)
