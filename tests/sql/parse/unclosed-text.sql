SELECT pid FROM s
WHERE comm = 'bash
GROUP BY pid
