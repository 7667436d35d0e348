SELECT strftime('%H', time) AS hour, count(*) FROM raw_tracepoint:sched_switch GROUP BY 1
