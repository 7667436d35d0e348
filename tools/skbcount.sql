#!/usr/bin/env ebql
-- Which programs make the kernel allocate buffers for the network, and how long does it take?
--
-- Each __alloc_skb() from its entry to its return, by who was on the CPU: what comes in is allocated
-- for whoever an interrupt hit.  Its cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: two a buffer: tens a second, up to millions on a fast network.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
-- :top      INTEGER  = 20   so many lines
SET windows = :count;
SELECT comm, pid, count(*) AS n, sum(size) AS bytes, quantiles(latency, 0.5, 0.99) AS latency,
	max(latency) AS longest
FROM function:__alloc_skb GROUP BY comm, pid WINDOW TUMBLING :interval ORDER BY n DESC LIMIT :top
