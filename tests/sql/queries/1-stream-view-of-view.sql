CREATE VIEW one AS SELECT time, k, n FROM 'events.jsonl' WHERE n IS NOT NULL;
CREATE OR REPLACE VIEW two AS SELECT time, k, n * 2 AS n2 FROM one;
SELECT k, max(n2) AS most FROM two GROUP BY k ORDER BY k
