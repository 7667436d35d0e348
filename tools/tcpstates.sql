#!/usr/bin/env ebql
-- Through which states do TCP connections go, and how long do they stay in each?
--
-- A row a change of state, of all sockets; stayed is NULL where the state before is not seen, as
-- that of a new socket.  Costs nothing but then.  Measured on 6.18: 278 ns a run. Answers tested on
-- 6.18.
-- Rate: a change of a connection's state: some a second, up to hundreds of thousands on a server.
--
-- :lport INTEGER = NULL   only with this port on this side
-- :rport INTEGER = NULL   only with this one on the other
SELECT e.time AS time, e.skaddr AS socket, ntop(e.family, e.saddr_v6) AS local, e.sport AS lport,
	ntop(e.family, e.daddr_v6) AS remote, e.dport AS rport, tcp_state(e.oldstate) AS before,
	tcp_state(e.newstate) AS state, e.time - b.time AS stayed
FROM tracepoint:sock:inet_sock_set_state AS e
LEFT PAIR JOIN (SELECT time, skaddr FROM tracepoint:sock:inet_sock_set_state
	WHERE newstate <> 7 AND protocol = 6) AS b ON e.skaddr = b.skaddr
WHERE e.protocol = 6 AND (:lport IS NULL OR e.sport = :lport) AND (:rport IS NULL OR e.dport = :rport)
