#!/usr/bin/env ebql
-- Which reads and writes of files are slow?
--
-- By vfs_read() and vfs_write() of regular files, from their entry to their return.  Its cost was not
-- measured.  Answers tested on 6.1 and 6.12.
-- Rate: two a call: thousands a second on a quiet machine, up to millions on a busy one.
--
-- :least DURATION = 10ms   only those as long
SELECT time, pid, comm, op, bytes, latency, name FROM (
	SELECT r.time AS time, pid, comm, 'read' AS op, r.ret AS bytes, latency,
		r.file.f_path.dentry.d_name.name AS name FROM function:vfs_read AS r
	WHERE r.file.f_inode.i_mode & 61440 = 32768
	UNION ALL
	SELECT w.time, pid, comm, 'write', w.ret, latency,
		w.file.f_path.dentry.d_name.name FROM function:vfs_write AS w
	WHERE w.file.f_inode.i_mode & 61440 = 32768)
WHERE latency >= :least
