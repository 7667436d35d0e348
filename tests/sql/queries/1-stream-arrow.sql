SELECT cpu, prev_comm, next_comm FROM 'switches.arrows' WHERE prev_pid = 0 AND cpu = 1 LIMIT 7
