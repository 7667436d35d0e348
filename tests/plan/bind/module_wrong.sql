SELECT count(*) FROM kprobe:xfs:vfs_read
