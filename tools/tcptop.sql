#!/usr/bin/env ebql
-- Which TCP connections carry most bytes, and whose are they?
--
-- What tcp_sendmsg() and tcp_recvmsg() returned; bytes that are only looked at (MSG_PEEK) are received as
-- they are taken.  What sendfile() sends before Linux 6.5, and what splice() receives, is not seen.  Its
-- cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: a call: tens a second, up to hundreds of thousands on a busy CPU.
--
-- :interval DURATION = 1s     the length of a window
-- :count    INTEGER  = 0      end after so many whole windows; 0: go on
-- :top      INTEGER  = 20     so many lines
-- :pid      INTEGER  = NULL   only of this process; also -p PID
-- :port     INTEGER  = NULL   only with this port on either side
SET windows = :count;
SELECT pid, comm, local, lport, remote, ntohs(rport) AS rport, sum(sent) AS sent, sum(received) AS received
FROM (
	SELECT pid, comm, inet(sk.__sk_common.skc_rcv_saddr) AS local, sk.__sk_common.skc_num AS lport,
		inet(sk.__sk_common.skc_daddr) AS remote, sk.__sk_common.skc_dport AS rport, sum(ret) AS sent, 0 AS received
	FROM function:tcp_sendmsg WHERE ret > 0 AND sk.__sk_common.skc_family = 2
		AND (:pid IS NULL OR pid = :pid)
	GROUP BY pid, comm, local, lport, remote, rport
	UNION ALL
	SELECT pid, comm, inet(sk.__sk_common.skc_rcv_saddr) AS local, sk.__sk_common.skc_num AS lport,
		inet(sk.__sk_common.skc_daddr) AS remote, sk.__sk_common.skc_dport AS rport, 0 AS sent, sum(ret) AS received
	FROM function:tcp_recvmsg WHERE ret > 0 AND sk.__sk_common.skc_family = 2
		-- 0x2002: MSG_PEEK and MSG_ERRQUEUE.
		AND flags & 0x2002 = 0
		AND (:pid IS NULL OR pid = :pid)
	GROUP BY pid, comm, local, lport, remote, rport
	UNION ALL
	SELECT pid, comm, inet(sk.__sk_common.skc_v6_rcv_saddr) AS local, sk.__sk_common.skc_num AS lport,
		inet(sk.__sk_common.skc_v6_daddr) AS remote, sk.__sk_common.skc_dport AS rport, sum(ret) AS sent, 0 AS received
	FROM function:tcp_sendmsg WHERE ret > 0 AND sk.__sk_common.skc_family = 10
		AND (:pid IS NULL OR pid = :pid)
	GROUP BY pid, comm, local, lport, remote, rport
	UNION ALL
	SELECT pid, comm, inet(sk.__sk_common.skc_v6_rcv_saddr) AS local, sk.__sk_common.skc_num AS lport,
		inet(sk.__sk_common.skc_v6_daddr) AS remote, sk.__sk_common.skc_dport AS rport, 0 AS sent, sum(ret) AS received
	FROM function:tcp_recvmsg WHERE ret > 0 AND sk.__sk_common.skc_family = 10
		-- 0x2002: MSG_PEEK and MSG_ERRQUEUE.
		AND flags & 0x2002 = 0
		AND (:pid IS NULL OR pid = :pid)
	GROUP BY pid, comm, local, lport, remote, rport)
WHERE :port IS NULL OR lport = :port OR ntohs(rport) = :port
GROUP BY pid, comm, local, lport, remote, rport WINDOW TUMBLING :interval
ORDER BY sum(sent) + sum(received) DESC LIMIT :top
