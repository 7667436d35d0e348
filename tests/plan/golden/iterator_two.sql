SELECT f.name, count(*) AS n
FROM iter:task_file AS f JOIN iter:task AS t ON f.pid = t.tid
WHERE f.flags & 3 <> 0 AND t.state = 'R' AND t.task.mm.total_vm > 100
GROUP BY f.name ORDER BY n DESC LIMIT 3
