SELECT * FROM t:a:b JOIN unnest(x) AS u ON true
