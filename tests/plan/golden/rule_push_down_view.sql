SELECT cpu, count(*) FROM run_queue WHERE tid = 7 AND cpu = 1 GROUP BY cpu
