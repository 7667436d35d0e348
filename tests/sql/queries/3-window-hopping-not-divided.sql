SELECT window_start, window_end, cpu, count(*) AS m FROM 'events.jsonl' GROUP BY cpu WINDOW HOPPING (SIZE 7 SECONDS, ADVANCE BY 3 SECONDS) ORDER BY cpu
