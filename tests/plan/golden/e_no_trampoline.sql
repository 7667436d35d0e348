SET access_path = fentry; SELECT count(*) FROM kprobe:vfs_read+0x10
