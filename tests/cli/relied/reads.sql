SELECT file.f_path.dentry.d_name.name AS name, sum(ret), max(latency)
FROM function:vfs_read
WHERE count > 1 GROUP BY name
