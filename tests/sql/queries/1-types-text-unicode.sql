SELECT DISTINCT s, length(s) AS characters, upper(s) AS big FROM 'events.jsonl' WHERE s LIKE '%ber' OR s LIKE 'W%' ORDER BY s
