DESCRIBE raw_tracepoint:sched_switch.prev.thread_pid;
DESCRIBE rt:sched_switch.prev.thread_pid.numbers;
DESCRIBE kprobe:vfs_read.task.thread_info;
DESCRIBE function:vfs_read.file
