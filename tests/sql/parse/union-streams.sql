SELECT 1 AS d FROM t:block:block_rq_issue UNION ALL SELECT -1 FROM t:block:block_rq_complete WITH (max_groups = 8)
