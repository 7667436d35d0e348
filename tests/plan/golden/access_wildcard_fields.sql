SELECT probe, count(*) FROM tracepoint:sched:sched_wak* WHERE prio < 100 GROUP BY probe
