SELECT 1 FROM tracepoint: sched
