SELECT probe, count(*) FROM tracepoint:syscalls:sys_enter_* GROUP BY probe
