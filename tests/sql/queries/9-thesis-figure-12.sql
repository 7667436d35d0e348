-- sqlite: SELECT fd, cpu, COUNT(*), MAX(count), AVG(count) FROM reads WHERE count > 100 GROUP BY fd, cpu
-- flat: sorted
-- windowed: sorted
SELECT fd, cpu, COUNT(*), MAX(count), AVG(count) FROM 'reads.jsonl'
GROUP BY fd, cpu WHERE count > 100 WINDOW(time, 1000, 1000);
