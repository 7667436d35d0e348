SELECT pid, count(*) AS m, rank() OVER (ORDER BY count(*) DESC) AS place FROM 'events.jsonl' GROUP BY pid WINDOW TUMBLING 5s ORDER BY place, pid
