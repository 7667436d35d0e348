SET access_path = raw; SELECT cmd, count(*) FROM tracepoint:block:block_rq_complete GROUP BY cmd
