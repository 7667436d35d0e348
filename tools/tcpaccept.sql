#!/usr/bin/env ebql
-- Which TCP connections come in, and who takes them?
--
-- Each inet_csk_accept() as it returns, so the process is the one that serves the connection.
-- Costs nothing but then.  Its cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: a connection: some a second, up to tens of thousands on a busy server.
--
-- :pid  INTEGER = NULL   only of this process; also -p PID
-- :port INTEGER = NULL   only those that come in at this port
SELECT time, pid, comm, CASE WHEN CAST(ret AS 'struct sock *').__sk_common.skc_family = 2
		THEN inet(CAST(ret AS 'struct sock *').__sk_common.skc_daddr)
		ELSE inet(CAST(ret AS 'struct sock *').__sk_common.skc_v6_daddr) END AS source,
	ntohs(CAST(ret AS 'struct sock *').__sk_common.skc_dport) AS sport,
	CAST(ret AS 'struct sock *').__sk_common.skc_num AS port
FROM kretprobe:inet_csk_accept WHERE ret <> 0 AND (:pid IS NULL OR pid = :pid)
	AND (:port IS NULL OR CAST(ret AS 'struct sock *').__sk_common.skc_num = :port)
