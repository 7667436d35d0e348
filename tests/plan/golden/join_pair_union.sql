SELECT s.next_pid, s.time - w.t AS delay FROM t:sched:sched_switch s PAIR JOIN
(SELECT pid AS p, time AS t FROM t:sched:sched_wakeup UNION ALL SELECT prev_pid, time FROM t:sched:sched_switch WHERE prev_state = 0) w
ON s.next_pid = w.p WITHIN 5s WHERE s.cpu = 1
