-- A union of both has one clock: dates of it are not converted again.
SELECT datetime(u.t / 1000000000, 'unixepoch') AS d FROM (SELECT time AS t FROM tracepoint:sched:sched_wakeup
  UNION ALL SELECT time FROM 'data/reads.csv') AS u
