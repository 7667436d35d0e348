-- Neither divides the other: two panes for each advance.
SELECT fd, max(count) AS m, quantile(count, 0.5) AS q, window_start FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY fd WINDOW HOPPING (SIZE 7s, ADVANCE BY 3s)
