SELECT count(*) FROM tracpoint:sched:sched_switch
