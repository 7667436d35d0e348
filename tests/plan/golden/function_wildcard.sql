SELECT count(*) FROM function:vfs_*
