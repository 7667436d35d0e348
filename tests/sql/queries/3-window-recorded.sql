SELECT count, count(*) AS n, sum(ret) AS bytes, max(latency) AS longest FROM 'reads.jsonl' GROUP BY count WINDOW TUMBLING 500ms ORDER BY count
