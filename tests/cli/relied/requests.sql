SELECT rwbs, ioprio, count(*) FROM tracepoint:block:block_rq_issue GROUP BY 1, 2
