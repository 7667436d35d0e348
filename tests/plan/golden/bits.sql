SELECT next_prio, bit_or(prev_state), bit_and(prev_state), bit_xor(prev_state),
  bit_or(prev_pid) FILTER (WHERE prev_prio > 0)
FROM tracepoint:sched:sched_switch GROUP BY next_prio HAVING bit_or(prev_state) <> 0
