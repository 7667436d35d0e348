SELECT CAST(prev AS 'struct task_strukt *').pid, CAST(prev AS 'struct task_struct'), user(prev, 'struct pidd'),
	container_of(prev, 'struct task_struct', pidd), CAST(prev AS 'struct task_struct *') [0]
FROM raw_tracepoint:sched_switch
