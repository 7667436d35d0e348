kprobe:vfs_read { @start[tid] = nsecs; }
kretprobe:vfs_read /@start[tid] && comm == "dd"/ { @ns[comm] = hist((nsecs - @start[tid]) / 1000); delete(@start[tid]); }
