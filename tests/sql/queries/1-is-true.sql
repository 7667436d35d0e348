-- tables only
SELECT x, x IS TRUE AS t, x IS NOT TRUE AS nt, x IS FALSE AS f, x IS NOT FALSE AS nf, x > 1 IS TRUE AS u FROM (VALUES (5), (0), (NULL), (1), (-1)) AS v (x)
