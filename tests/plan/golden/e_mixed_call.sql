SELECT count(*) FROM kprobe:__x64_sys_fsync AS f
PAIR JOIN tracepoint:syscalls:sys_enter_fsync AS e ON f.tid = e.tid
