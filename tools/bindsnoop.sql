#!/usr/bin/env ebql
-- Who binds to which address and port?
--
-- Each bind() of IPv4 and IPv6 as it returns; ret is below 0 where it failed.  Costs nothing but then where
-- fentry is there. Measured on 6.18: 52 ns a run.  Answers tested on 6.18.
-- Rate: a call: some a minute, up to thousands a second where clients bind before they connect.
--
-- :pid INTEGER = NULL   only of this process; also -p PID
SELECT time, pid, comm, fd, CASE WHEN user(umyaddr, 'struct sockaddr_in').sin_family = 2
		THEN inet(user(umyaddr, 'struct sockaddr_in').sin_addr.s_addr)
		ELSE inet(user(umyaddr, 'struct sockaddr_in6').sin6_addr) END AS address,
	ntohs(user(umyaddr, 'struct sockaddr_in').sin_port) AS port, ret
FROM syscall:bind WHERE user(umyaddr, 'struct sockaddr_in').sin_family IN (2, 10) AND (:pid IS NULL OR pid = :pid)
