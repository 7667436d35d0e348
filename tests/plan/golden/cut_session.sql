SELECT pid, count(*), window_start FROM syscall:read GROUP BY pid WINDOW SESSION (GAP 100ms)
