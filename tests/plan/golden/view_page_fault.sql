SELECT pid, is_write, count(*) FROM page_fault GROUP BY pid, is_write WINDOW TUMBLING 1s
