CREATE VIEW v AS SELECT time, n FROM 'events.jsonl';
CREATE VIEW v AS SELECT time, k FROM 'events.jsonl';
SELECT count(*) FROM v
