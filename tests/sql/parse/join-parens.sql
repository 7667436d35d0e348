SELECT * FROM a JOIN (b JOIN c ON b.x = c.x) ON a.x = b.x, (d, e) AS f, ((g)) h
