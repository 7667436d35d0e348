#!/usr/bin/env ebql
-- What do programs send by OpenSSL, before its encryption, and how much do they receive?
--
-- Each SSL_write() and SSL_write_ex() as it is called, with its text, which ends with "..." behind
-- 100 bytes; each SSL_read() as it returns, without, and SSL_read_ex() without how much: where they
-- put it is told by their entry, and a query reads memory as of one event.  Costs nothing but then.
-- Measured on 6.18: 843 ns a run.  Answers tested on 6.18.
-- Rate: a call: some a second, up to hundreds of thousands on a server.
SELECT time, pid, comm, call, bytes, data FROM (
	SELECT w.time AS time, pid, comm, 'write' AS call, w.arg2 & 0x7fffffff AS bytes,
		strs(w.arg1, w.arg1 + (w.arg2 & 0x7fffffff), 100) AS data FROM uprobe:libssl.so.3:SSL_write AS w
	UNION ALL
	SELECT x.time, pid, comm, 'write', x.arg2 & 0x7fffffffffffffff, strs(x.arg1, x.arg1 + x.arg2, 100)
	FROM uprobe:libssl.so.3:SSL_write_ex AS x
	UNION ALL
	SELECT r.time, pid, comm, 'read', CASE WHEN r.ret < 2147483648 THEN r.ret ELSE r.ret - 4294967296 END,
		NULL FROM uretprobe:libssl.so.3:SSL_read AS r
	UNION ALL
	SELECT s.time, pid, comm, 'read', NULL, NULL FROM uretprobe:libssl.so.3:SSL_read_ex AS s)
