#!/usr/bin/env ebql
-- Who connects to which address by TCP?
--
-- Each connection as it is tried (the state SYN_SENT); tcplife has those that came about.  Costs
-- nothing but then.  Measured on 6.18: 107 ns a run.  Answers tested on 6.18.
-- Rate: a change of a connection's state: some a second, up to hundreds of thousands on a server.
--
-- :pid  INTEGER = NULL   only of this process; also -p PID
-- :uid  INTEGER = NULL   only of this user
-- :port INTEGER = NULL   only to this port
SELECT s.time AS time, pid, comm, ntop(family, saddr_v6) AS source, ntop(family, daddr_v6) AS target, dport
FROM tracepoint:sock:inet_sock_set_state AS s
WHERE newstate = 2 AND protocol = 6 AND (:pid IS NULL OR pid = :pid) AND (:uid IS NULL OR uid = :uid)
	AND (:port IS NULL OR dport = :port)
