SELECT container_of(prev, 'struct task_struct', real_parent.pid), container_of(prev, 'struct task_struct'),
	user(prev, 'struct pid *'), user(prev), str(DISTINCT prev)
FROM raw_tracepoint:sched_switch
