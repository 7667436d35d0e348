SELECT strftime('%H', time / 1s) AS none, date(time / 1s, 'localtime') AS none_either,
strftime('%H', time / 1s, 'unixepoch') AS hour, date(time / 1s, 'auto') AS day, date(2460000) AS julian,
date('2024-01-01') AS text, date(pid % 100) AS small FROM raw_tracepoint:sched_switch
