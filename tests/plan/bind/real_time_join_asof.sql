-- A side that is a join of a stream and a file has real times already, above that join too.
SELECT max(x.t) FROM (SELECT a.time AS t, a.pid FROM tracepoint:sched:sched_wakeup AS a
  ASOF JOIN 'data/reads.csv' AS b ON a.pid = b.pid AND a.time >= b.time) AS x
JOIN 'data/reads.csv' AS c ON x.t > c.time
