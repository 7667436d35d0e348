DESCRIBE tracepoint:sched:sched_switch; DESC block_io; DESCRIBE 'a.csv'
