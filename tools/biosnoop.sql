#!/usr/bin/env ebql
-- Which requests go to the disks, whose are they, and how long does each take?
--
-- A row a request as it completes; pid and comm are of the thread that issued it, which often is
-- one of the kernel's.  See the view block_io for what is not seen.  Measured on 6.18: 607 ns a
-- run.  Answers tested on 6.18.
-- Rate: two or three a request: tens a second on a quiet disk, up to millions on fast ones.
--
-- :least DURATION = 0s     only those that took as long
-- :disk  TEXT     = NULL   only of this disk, as vda
-- :pid   INTEGER  = NULL   only of this process; also -p PID
SELECT time, comm, pid, disk_name(dev) AS disk, rwbs, sector, bytes, queue_time, latency
FROM block_io WHERE latency >= :least AND (:disk IS NULL OR disk_name(dev) = :disk) AND (:pid IS NULL OR pid = :pid)
