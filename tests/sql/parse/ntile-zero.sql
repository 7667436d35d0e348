SELECT ntile(0) OVER (ORDER BY pid), nth_value(pid, -1) OVER (ORDER BY pid) FROM t:a:b
