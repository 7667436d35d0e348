select distinct comm from t:sched:sched_switch
