SELECT count(*) FROM function:vmlinux:vfs_read WHERE ret > 0
