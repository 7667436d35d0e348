#!/usr/bin/env ebql
-- Which names of hosts are looked up, and how long does it take?
--
-- Each getaddrinfo() and gethostbyname() of the C library as it returns.  Costs nothing but then.
-- Measured on 6.18: 1,790 ns a run.  Answers tested on 6.18.
-- Rate: two a call: some a minute, up to thousands a second where each request looks up a name.
SELECT time, pid, comm, latency, host FROM (
	SELECT a.time AS time, pid, comm, latency, str(a.arg0, 100) AS host
	FROM userfunction:libc.so.6:getaddrinfo AS a
	UNION ALL
	SELECT b.time, pid, comm, latency, str(b.arg0, 100)
	FROM userfunction:libc.so.6:gethostbyname AS b)
