SELECT all, all * 2 AS x, all - 1 FROM (SELECT all n, k FROM (SELECT all -n FROM s WHERE all > 1) AS q) AS r
