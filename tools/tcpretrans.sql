#!/usr/bin/env ebql
-- Which TCP segments are sent once more?
--
-- Each retransmission, of which connection and in which state.  probe: nothing is known to be lost,
-- but the last segments were not answered for some round trips (tail loss probe).  Costs nothing but
-- then.  Measured on 6.18: 2990 ns a run.  Answers tested on 6.18.
-- Rate: a segment: none to some a second on a good network, up to thousands on one that loses many.
--
-- :lport INTEGER = NULL   only with this port on this side
-- :rport INTEGER = NULL   only with this one on the other
SELECT r.time AS time, ntop(family, saddr_v6) AS source, sport, ntop(family, daddr_v6) AS target, dport,
	-- ICSK_TIME_LOSS_PROBE: the timer that sends it; and not TCP_CA_Recovery or TCP_CA_Loss, in which
	-- what is lost is sent while that timer waits.
	tcp_state(state) AS state, CAST(skaddr AS 'struct inet_connection_sock *').icsk_pending = 5 AND
	CAST(skaddr AS 'struct inet_connection_sock *').icsk_ca_state < 3 AS probe
FROM tracepoint:tcp:tcp_retransmit_skb AS r
WHERE (:lport IS NULL OR sport = :lport) AND (:rport IS NULL OR dport = :rport)
