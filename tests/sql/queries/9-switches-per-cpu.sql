SELECT cpu, count(*) AS switches, count(*) FILTER (WHERE prev_pid = 0) AS from_idle FROM 'switches.arrows' GROUP BY cpu WINDOW TUMBLING 50ms ORDER BY cpu
