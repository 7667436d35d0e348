SET access_path = raw; SELECT error, count(*) FROM tracepoint:block:block_rq_complete GROUP BY error
