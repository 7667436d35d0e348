-- catalog unnumbered
SELECT count(*) FROM tracepoint:syscalls:sys_enter_*read WINDOW TUMBLING 1s
