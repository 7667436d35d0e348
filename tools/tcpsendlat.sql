#!/usr/bin/env ebql
-- How long does TCP take to send, by how much is sent at once?
--
-- Each tcp_sendmsg() from its entry to its return, by the KiB that it was called with; what a system
-- call takes besides is not in it.  Its cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: two a call: tens a second, up to hundreds of thousands on a busy CPU.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT size / 1KiB AS kib, count(*) AS n, sum(size) AS bytes, histogram(latency) AS latency
FROM function:tcp_sendmsg GROUP BY kib WINDOW TUMBLING :interval ORDER BY kib
