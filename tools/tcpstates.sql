#!/usr/bin/env ebql
-- Through which states do TCP connections go, and how long do they stay in each?
--
-- A row a change of state, of all sockets.  Costs nothing but then.  Tried on 6.1, 6.12 and 6.18.
SELECT e.time AS time, e.skaddr AS socket, ntop(e.family, e.saddr_v6) AS local, e.sport AS lport,
	ntop(e.family, e.daddr_v6) AS remote, e.dport AS rport, tcp_state(e.oldstate) AS before,
	tcp_state(e.newstate) AS state, e.time - b.time AS stayed
FROM tracepoint:sock:inet_sock_set_state AS e
LEFT PAIR JOIN tracepoint:sock:inet_sock_set_state AS b ON e.skaddr = b.skaddr
WHERE e.protocol = 6
