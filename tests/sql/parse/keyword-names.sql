SELECT MAX(count), size, time, window, "select", group, order, limit, filter, left, count AS from, s.where FROM s AS t WHERE limit > 1 GROUP BY window, order ORDER BY group
