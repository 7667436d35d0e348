SELECT pid, count(*) AS m, sum(count(*)) OVER (ORDER BY pid) AS so_far FROM 'events.jsonl' GROUP BY pid WINDOW HOPPING 8s BY 4s ORDER BY pid
