SELECT probe, count(*) AS n, max(latency) AS longest FROM 'calls.csv' GROUP BY probe ORDER BY n DESC, probe LIMIT 5
