SELECT w.current.comm, s.current.comm FROM tracepoint:sched:sched_switch AS s ASOF JOIN tracepoint:sched:sched_wakeup AS w ON s.cpu = w.cpu AND s.time >= w.time
