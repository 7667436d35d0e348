SELECT cpu FROM tracepoint:syscalls:sys_enter_read GROUP BY cpu HAVING count(100 / fd) < -5 OR count(*) > 2 WINDOW SESSION 10ms
