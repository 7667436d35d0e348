CREATE VIEW v AS SELECT time, n FROM 'events.jsonl' WHERE n > 0;
CREATE VIEW IF NOT EXISTS v AS SELECT time, k FROM 'events.jsonl';
DROP VIEW IF EXISTS w;
SELECT count(*) AS m FROM v
-- sqlite: SELECT count(*) AS m FROM events WHERE n > 0
