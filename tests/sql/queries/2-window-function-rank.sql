SELECT pid, sum(n) AS s, rank() OVER (ORDER BY sum(n) DESC) AS place FROM 'events.jsonl' GROUP BY pid ORDER BY place
