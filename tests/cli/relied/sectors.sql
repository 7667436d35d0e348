SELECT rwbs, sum(nr_sector) FROM tracepoint:block:block_rq_issue GROUP BY rwbs
