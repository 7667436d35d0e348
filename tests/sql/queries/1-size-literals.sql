SELECT bytes / 1KiB AS kib, count(*) AS n, sum(bytes) AS total FROM 'events.jsonl' WHERE bytes < 1MiB GROUP BY kib ORDER BY kib
