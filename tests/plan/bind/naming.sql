SELECT task_state(prev_state), count(*) AS n FROM t:sched:sched_switch GROUP BY task_state(prev_state) HAVING task_state(prev_state) <> 'running' ORDER BY 1
