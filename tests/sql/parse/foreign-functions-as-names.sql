SELECT count(*) AS over, extract(a, b), substring(comm, 1, 2), trim(comm) FROM t:a:b AS sliding
GROUP BY rollup, cube, grouping, "all" ORDER BY exclude * replace (pid), position (comm)
