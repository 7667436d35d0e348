#!/usr/bin/env ebql
-- When does software RAID flush its disks, and for whom?
--
-- Each md_flush_request(), which needs the module md_mod.  Costs nothing otherwise.  Its cost was not
-- measured.  Answers tested on 6.1 and 6.12.
-- Rate: a flush: some a second, up to thousands where each write is synced.
SELECT time, pid, comm, bio.bi_bdev.bd_disk.disk_name AS disk FROM kprobe:md_flush_request
