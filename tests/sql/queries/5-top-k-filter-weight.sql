SELECT top_k(k, 2, 100 / k) FILTER (WHERE k <> 0) AS t, top_k(k, 3, 100 / k) FILTER (WHERE k > 4) AS u FROM 'zero.csv'
-- check: none, FILTER guards the weight: no fault
