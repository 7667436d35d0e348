#!/usr/bin/env ebql
-- Which TCP connections were there, for how long, and how many bytes went over them?
--
-- From ESTABLISHED to CLOSE of the same socket, a row as it closes; pid and comm are those of who
-- called connect, NULL for a connection that came in.  sent is what went out, each byte once,
-- whether or not it arrived; SYN and FIN are no bytes.  Costs nothing but then.  Measured on 6.18:
-- 539 ns a run.  Answers tested on 6.18.
-- Rate: a change of a connection's state: some a second, up to hundreds of thousands on a server.
--
-- :pid   INTEGER = NULL   only of this process; also -p PID
-- :lport INTEGER = NULL   only with this port on this side
-- :rport INTEGER = NULL   only with this one on the other
SELECT e.time AS time, b.pid AS pid, b.comm AS comm, local,
	e.sport AS lport, remote, e.dport AS rport, received,
	sent, e.time - b.time AS lived
FROM (SELECT time, skaddr, sport, dport,
		ntop(family, saddr_v6) AS local, ntop(family, daddr_v6) AS remote,
		-- SOCK_DONE, which the other end's FIN sets, and which counts as one received.
		CAST(skaddr AS 'struct tcp_sock *').bytes_received -
			(CAST(skaddr AS 'struct sock *').__sk_common.skc_flags >> 1 & 1) AS received,
		CAST(skaddr AS 'struct tcp_sock *').bytes_sent -
			CAST(skaddr AS 'struct tcp_sock *').bytes_retrans AS sent
	FROM tracepoint:sock:inet_sock_set_state WHERE newstate = 7 AND protocol = 6) AS e
PAIR JOIN (
	SELECT o.time AS time, o.skaddr AS skaddr, c.pid AS pid, c.comm AS comm
	FROM (SELECT time, skaddr FROM tracepoint:sock:inet_sock_set_state
		WHERE newstate = 1 AND protocol = 6) AS o
	LEFT PAIR JOIN (SELECT time, skaddr, current.pid AS pid, comm
		FROM tracepoint:sock:inet_sock_set_state WHERE newstate = 2 AND protocol = 6) AS c
	ON o.skaddr = c.skaddr) AS b ON e.skaddr = b.skaddr
WHERE (:pid IS NULL OR b.pid = :pid) AND (:lport IS NULL OR e.sport = :lport) AND (:rport IS NULL OR e.dport = :rport)
