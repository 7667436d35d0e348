SELECT count(*) FROM function:xfs:xfs_no_such
