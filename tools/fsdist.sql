#!/usr/bin/env ebql
-- How long do operations on files take, by kind of file system?
--
-- Calls of vfs_read(), vfs_write(), vfs_open() and vfs_fsync_range() from entry to return, by the name of
-- the file system's type: ext4, xfs, btrfs, nfs, zfs, tmpfs, ...  Reads and writes of several buffers at
-- once (readv()) and by io_uring are not seen; ext4dist and xfsdist have them.  Its cost was not measured.
-- Answers tested on 6.1 and 6.12.
-- Rate: two a call: thousands a second on a quiet machine, up to millions on a busy one.
--
-- :interval DURATION = 1s     the length of a window
-- :count    INTEGER  = 0      end after so many whole windows; 0: go on
-- :fs       TEXT     = NULL   only this type, as btrfs
-- :pid      INTEGER  = NULL   only of this process; also -p PID
SET windows = :count;
SELECT fs, op, histogram(latency) AS latency FROM (
	SELECT r.time AS time, pid, 'read' AS op, latency, r.file.f_inode.i_sb.s_type.name AS fs FROM function:vfs_read AS r
	UNION ALL SELECT w.time, pid, 'write', latency, w.file.f_inode.i_sb.s_type.name FROM function:vfs_write AS w
	UNION ALL SELECT o.time, pid, 'open', latency, o.path.dentry.d_sb.s_type.name FROM function:vfs_open AS o
	UNION ALL SELECT s.time, pid, 'sync', latency, s.file.f_inode.i_sb.s_type.name FROM function:vfs_fsync_range AS s)
WHERE (:fs IS NULL OR fs = :fs) AND (:pid IS NULL OR pid = :pid)
GROUP BY fs, op WINDOW TUMBLING :interval
