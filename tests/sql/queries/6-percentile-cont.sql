SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS p FROM 'events.jsonl' WHERE n > 0
-- check: none, interpolated within a cell whose ends are powers of 2^(1/8), between the bounds
