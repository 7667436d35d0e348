CREATE VIEW per_cpu AS SELECT cpu, count(*) AS n FROM 'events.jsonl' GROUP BY cpu;
SELECT max(n) AS most, min(n) AS least FROM per_cpu WINDOW TUMBLING 5s
