-- tables only
SELECT 1 + 1, 10ms * 3 AS d, 'x' || 'y' AS t, NULL AS n, 7::double precision / 2 AS r, '12'::bigint + 1 AS i, 7::varchar AS v, -1::int8 AS m
