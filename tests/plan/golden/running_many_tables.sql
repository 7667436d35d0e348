SELECT time,
sum(prev_prio) OVER (PARTITION BY prev_pid), count(*) OVER (PARTITION BY prev_pid),
sum(prev_prio) OVER (PARTITION BY next_pid), count(*) OVER (PARTITION BY next_pid),
sum(prev_prio) OVER (PARTITION BY prev_pid + next_pid), count(*) OVER (PARTITION BY prev_pid + next_pid),
sum(prev_prio) OVER (PARTITION BY prev_pid * 3), count(*) OVER (PARTITION BY prev_pid * 3),
sum(prev_prio) OVER (PARTITION BY next_pid * 3), count(*) OVER (PARTITION BY next_pid * 3),
sum(prev_prio) OVER (PARTITION BY next_pid * 7), count(*) OVER (PARTITION BY next_pid * 7),
sum(prev_prio) OVER (PARTITION BY prev_pid * 9), count(*) OVER (PARTITION BY prev_pid * 9),
sum(prev_prio) OVER (PARTITION BY next_pid * 11), count(*) OVER (PARTITION BY next_pid * 11),
sum(prev_prio) OVER (PARTITION BY cpu), count(*) OVER (PARTITION BY cpu)
FROM tracepoint:sched:sched_switch
