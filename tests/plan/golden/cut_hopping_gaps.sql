SELECT upper(comm), count(*) FROM raw_tracepoint:sched_switch GROUP BY comm WINDOW HOPPING 1s BY 5s
