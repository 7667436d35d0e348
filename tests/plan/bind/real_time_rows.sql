SELECT date(time / 1000000000, 'unixepoch') AS day, time, strftime('%H', t.later / 1000000000, 'unixepoch') FROM (SELECT time, time + 1s AS later FROM raw_tracepoint:sched_switch) AS t
