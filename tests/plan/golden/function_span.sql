SELECT count, file.f_path.dentry.d_name.name AS name, count(*) AS n, sum(ret), p99(latency)
FROM function:vfs_read WHERE pid = 7 AND ret > 0 GROUP BY count, name
