#!/usr/bin/env ebql
-- Which TCP connections carry most bytes, and whose are they?
--
-- What tcp_sendmsg() and tcp_recvmsg() returned, of IPv4; bytes that are only looked at (MSG_PEEK) are
-- received as they are taken.  What sendfile() sends before Linux 6.5, and what splice() receives, is not
-- seen.  Its cost was not measured.  Answers
-- tested on 6.1 and 6.12.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many windows; 0: go on
-- :top      INTEGER  = 20   so many lines
SET windows = :count;
SELECT pid, comm, inet(local) AS local, ntohs(lport) AS lport, inet(remote) AS remote, ntohs(rport) AS rport,
	sum(sent) AS sent, sum(received) AS received
FROM (SELECT a.time AS time, pid, comm, sk.__sk_common.skc_rcv_saddr AS local,
		CAST(sk AS 'struct inet_sock *').inet_sport AS lport, sk.__sk_common.skc_daddr AS remote,
		sk.__sk_common.skc_dport AS rport, a.ret AS sent, 0 AS received
	FROM function:tcp_sendmsg AS a WHERE a.ret > 0 AND sk.__sk_common.skc_family = 2
	UNION ALL
	SELECT b.time, pid, comm, sk.__sk_common.skc_rcv_saddr, CAST(sk AS 'struct inet_sock *').inet_sport,
		sk.__sk_common.skc_daddr, sk.__sk_common.skc_dport, 0, b.ret
	-- 0x2002: MSG_PEEK and MSG_ERRQUEUE.
	FROM function:tcp_recvmsg AS b
	WHERE b.ret > 0 AND b.flags & 0x2002 = 0 AND sk.__sk_common.skc_family = 2)
GROUP BY pid, comm, local, lport, remote, rport WINDOW TUMBLING :interval
ORDER BY sum(sent) + sum(received) DESC LIMIT :top
