SELECT CAST(args[0] AS 'struct task_struct *').pid AS pid, user(args[1], 'struct pid').numbers[0].nr AS nr,
	container_of(args[2], 'struct task_struct', comm).comm AS comm, user(args[3], 'int')[id] AS x
FROM tracepoint:raw_syscalls:sys_enter
