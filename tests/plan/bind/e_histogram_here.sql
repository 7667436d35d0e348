SELECT histogram(count) + 1, upper(quantiles(count, 0.5)), fd FROM t:syscalls:sys_enter_read GROUP BY fd
