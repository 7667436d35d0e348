SELECT dev, count(*) FROM tracepoint:block:block_rq_issue WHERE NULL IS NULL OR disk_name(dev) LIKE 'vd%' GROUP BY dev
