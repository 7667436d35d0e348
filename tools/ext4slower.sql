#!/usr/bin/env ebql
-- Which operations on files of ext4 are slow?
--
-- Reads, writes, opens and syncs, from the entry of ext4's function to its return.  Its cost was not
-- measured.  Answers tested on 6.1 and 6.12.
-- Rate: two a call: hundreds a second, up to millions where much is read from the cache.
--
-- :least DURATION = 10ms   only those as long
-- :pid   INTEGER  = NULL   only of this process; also -p PID
SELECT time, pid, comm, op, bytes, latency, file FROM (
	SELECT r.time AS time, pid, comm, 'read' AS op, r.ret AS bytes, latency,
		iocb.ki_filp.f_path.dentry.d_name.name AS file FROM function:ext4_file_read_iter AS r
	UNION ALL
	SELECT w.time, pid, comm, 'write', w.ret, latency,
		iocb.ki_filp.f_path.dentry.d_name.name FROM function:ext4_file_write_iter AS w
	UNION ALL
	SELECT o.time, pid, comm, 'open', 0, latency,
		o.filp.f_path.dentry.d_name.name FROM function:ext4_file_open AS o
	UNION ALL
	SELECT s.time, pid, comm, 'sync', 0, latency,
		s.file.f_path.dentry.d_name.name FROM function:ext4_sync_file AS s)
WHERE latency >= :least AND (:pid IS NULL OR pid = :pid)
