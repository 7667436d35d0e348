#!/usr/bin/env ebql
-- How long does a system call take, for each process that makes many?
--
-- From the call's entry to its return, whatever happened meanwhile: syswhy tells that apart.  Each
-- quantile has its bounds, and lost events widen them.  Its cost was not measured.  Answers tested on
-- 6.1 and 6.12.
-- Rate: two a call; sendto(): tens a second, up to hundreds of thousands on a busy CPU.
--
-- :call     STREAM   = syscall:sendto   the call
-- :interval DURATION = 1s               the length of a window
-- :count    INTEGER  = 0                end after so many whole windows; 0: go on
-- :least    INTEGER  = 100              only processes with so many calls
-- :pid      INTEGER  = NULL             only of this process; also -p PID
SET windows = :count;
SELECT pid, comm, count(*) AS n, quantiles(latency, 0.5, 0.99, 0.999, loglinear(7)) AS latency
FROM :call WHERE :pid IS NULL OR pid = :pid GROUP BY pid, comm WINDOW TUMBLING :interval HAVING n >= :least ORDER BY n DESC
