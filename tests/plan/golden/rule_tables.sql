SELECT comm, count(*)
FROM iter:task
WHERE uid = 1000 AND utime + stime > 1s
GROUP BY comm
