SELECT count(*) FROM kprobe:vmlinux:vfs_raed
