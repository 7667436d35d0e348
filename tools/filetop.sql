#!/usr/bin/env ebql
-- Which files are read and written most, and by whom?
--
-- By vfs_read() and vfs_write() of regular files, with the bytes asked for.  Its cost was not
-- measured.  Answers tested on 6.1 and 6.12.
-- Rate: a call: thousands a second on a quiet machine, up to millions on a busy one.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
-- :top      INTEGER  = 20   so many lines
SET windows = :count;
SELECT pid, comm, name, sum(is_read) AS reads, sum(is_write) AS writes,
	sum(is_read * bytes) / 1KiB AS read_kib, sum(is_write * bytes) / 1KiB AS write_kib
FROM (SELECT r.time AS time, pid, comm, r.file.f_path.dentry.d_name.name AS name, 1 AS is_read,
		0 AS is_write, r.count AS bytes
	FROM kprobe:vfs_read AS r WHERE r.file.f_inode.i_mode & 61440 = 32768
	UNION ALL
	SELECT w.time, pid, comm, w.file.f_path.dentry.d_name.name, 0, 1, w.count
	FROM kprobe:vfs_write AS w WHERE w.file.f_inode.i_mode & 61440 = 32768)
GROUP BY pid, comm, name WINDOW TUMBLING :interval ORDER BY read_kib + write_kib DESC LIMIT :top
