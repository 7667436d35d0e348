CREATE VIEW v AS SELECT time, n FROM 'events.jsonl';
DROP VIEW v;
SELECT count(*) FROM v
