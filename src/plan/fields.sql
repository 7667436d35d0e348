-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

-- Fields of tracepoints as expressions over the arguments of the raw tracepoint of that name: what
-- the kernel's own TP_fast_assign() computes, from 5.15 to 6.18; and columns of iterators as
-- expressions over what their programs are called with, where current.X is of the task that is
-- visited.  Behind the names of tracepoints
-- stand items EXPRESSION AS FIELD, each ended by a semicolon; of several for one field that
-- one holds whose names all are in the kernel's BTF and which is of the field's type.  An
-- expression that is more than a member is made of the field's type as C assigns it.  No item
-- may fault; a member behind a pointer that is NULL is 0.
--   {e.x}       the number of x in enum e; without it the item does not hold
--   {e.x|63}    or 63
--   {e.x?1:0}   1 where enum e has x, else 0; {10?1:0}: where the field has 10 bytes
--   {+e.x}      enum e has x; {-e.x} it has not
--   {!e.x:Y}    where enum e has not x, the kernel is not known to print that in each case:
--               Y is said where the field is explained
--               struct s.x instead of e.x: of members
--   {%}         ahead of a member: of memory that each CPU has for itself, the sum of all
--   rwbs:10     of a char array of 10 bytes at most; a number is the bytes of the text

sched:sched_switch
	prev.comm AS prev_comm; prev.pid AS prev_pid; prev.prio AS prev_prio;
	next.comm AS next_comm; next.pid AS next_pid; next.prio AS next_prio;
	-- __task_state_index() of 6.14, which its stable releases have as well from some
	-- point on: vprot is of 6.17.  Bits: 0x1000 RTLOCK_WAIT, 0x8000 FROZEN, 0x402 IDLE.
	-- Kernels before 5.18 do not pass prev_state, and the thread's own changes meanwhile.
	{!struct sched_entity.vprot:2 of a frozen thread and 128 of an idle one that can be frozen, as since 6.14 and in stable releases (before: 0 and 2)}
	CASE WHEN preempt THEN 256
		WHEN prev_state & 36864 <> 0 THEN 2
		WHEN prev_state & 1026 = 1026 THEN 128
		WHEN (prev_state | prev.exit_state) & 127 <= 2 THEN prev_state & 3
		WHEN (prev_state | prev.exit_state) & 64 <> 0 THEN 64
		WHEN (prev_state | prev.exit_state) & 32 <> 0 THEN 32
		WHEN (prev_state | prev.exit_state) & 16 <> 0 THEN 16
		WHEN (prev_state | prev.exit_state) & 8 <> 0 THEN 8
		WHEN (prev_state | prev.exit_state) & 4 <> 0 THEN 4
		ELSE 2 END AS prev_state;

-- The CPU of a task is in its thread_info since 5.16.
sched:sched_wakeup sched:sched_wakeup_new sched:sched_waking
	p.comm AS comm; p.pid AS pid; p.prio AS prio;
	p.cpu AS target_cpu; p.thread_info.cpu + 0 AS target_cpu;

sched:sched_migrate_task
	p.comm AS comm; p.pid AS pid; p.prio AS prio; dest_cpu AS dest_cpu;
	p.cpu AS orig_cpu; p.thread_info.cpu + 0 AS orig_cpu;

sched:sched_process_fork
	parent.comm AS parent_comm; parent.pid AS parent_pid;
	child.comm AS child_comm; child.pid AS child_pid;

sched:sched_process_exec
	bprm.filename AS filename; p.pid AS pid; old_pid AS old_pid;

sched:sched_process_exit sched:sched_process_free
	p.comm AS comm; p.pid AS pid; p.prio AS prio; group_dead AS group_dead;

-- pid is in an array of structs, and prio that of the current thread: no expression has these.
sched:sched_process_wait
	current.comm AS comm;

sched:sched_stat_wait sched:sched_stat_sleep sched:sched_stat_iowait sched:sched_stat_blocked
	tsk.comm AS comm; tsk.pid AS pid; delay AS delay;

sched:sched_stat_runtime
	tsk.comm AS comm; tsk.pid AS pid; runtime AS runtime; vruntime AS vruntime;

task:task_newtask
	task.pid AS pid; task.comm AS comm; clone_flags AS clone_flags;
	task.signal.oom_score_adj AS oom_score_adj;

-- Requests.  One that passes through has no sector.  block_rq_insert and block_rq_issue take
-- what is left of the request, block_rq_complete what completes.
block:block_rq_insert block:block_rq_issue block:block_rq_complete
	rq.rq_disk.major << 20 | rq.rq_disk.first_minor AS dev;
	rq.q.disk.major << 20 | rq.q.disk.first_minor AS dev;
	rq.__data_len AS bytes; current.comm AS comm; rq.ioprio AS ioprio;
	{-struct request.ioprio} rq.bio.bi_ioprio AS ioprio;
	-- From the last letter to the first: U M S A F, the operation, F; none has more than seven.
	-- RWBS_LEN is 8 before 6.14, without U; 9 before 6.17, without the operations on zones;
	-- then 10.  A later kernel writes WZ for write-zeroes, and has the trace category of
	-- that name.
	{+blktrace_cat.BLK_TC_WRITE} {-blktrace_cat.BLK_TC_WRITE_ZEROES}
	(((((((rq.cmd_flags >> {req_flag_bits.__REQ_ATOMIC|63} & 1) * {9?85:0}
		* (1 + 255 * (rq.cmd_flags >> {req_flag_bits.__REQ_META} & 1))
		+ 77 * (rq.cmd_flags >> {req_flag_bits.__REQ_META} & 1))
		* (1 + 255 * (rq.cmd_flags >> {req_flag_bits.__REQ_SYNC} & 1))
		+ 83 * (rq.cmd_flags >> {req_flag_bits.__REQ_SYNC} & 1))
		* (1 + 255 * (rq.cmd_flags >> {req_flag_bits.__REQ_RAHEAD} & 1))
		+ 65 * (rq.cmd_flags >> {req_flag_bits.__REQ_RAHEAD} & 1))
		* (1 + 255 * (rq.cmd_flags >> {req_flag_bits.__REQ_FUA} & 1))
		+ 70 * (rq.cmd_flags >> {req_flag_bits.__REQ_FUA} & 1))
		* CASE rq.cmd_flags & 255 WHEN {req_op.REQ_OP_SECURE_ERASE} THEN 65536
			WHEN {req_op.REQ_OP_ZONE_APPEND} THEN {10?65536:256}
			WHEN {req_op.REQ_OP_ZONE_RESET} THEN {10?65536:256}
			WHEN {req_op.REQ_OP_ZONE_RESET_ALL} THEN {10?16777216:256}
			WHEN {req_op.REQ_OP_ZONE_FINISH} THEN {10?65536:256}
			WHEN {req_op.REQ_OP_ZONE_OPEN} THEN {10?65536:256}
			WHEN {req_op.REQ_OP_ZONE_CLOSE} THEN {10?65536:256} ELSE 256 END
		+ CASE rq.cmd_flags & 255 WHEN {req_op.REQ_OP_READ} THEN 82
			WHEN {req_op.REQ_OP_WRITE} THEN 87 WHEN {req_op.REQ_OP_FLUSH} THEN 70
			WHEN {req_op.REQ_OP_DISCARD} THEN 68
			WHEN {req_op.REQ_OP_SECURE_ERASE} THEN 17732
			WHEN {req_op.REQ_OP_ZONE_APPEND} THEN {10?16730:78}
			WHEN {req_op.REQ_OP_ZONE_RESET} THEN {10?21082:78}
			WHEN {req_op.REQ_OP_ZONE_RESET_ALL} THEN {10?4280922:78}
			WHEN {req_op.REQ_OP_ZONE_FINISH} THEN {10?18010:78}
			WHEN {req_op.REQ_OP_ZONE_OPEN} THEN {10?20314:78}
			WHEN {req_op.REQ_OP_ZONE_CLOSE} THEN {10?17242:78}
			ELSE 78 END)
		& 36028797018963967)
		* (1 + 255 * (rq.cmd_flags >> {req_flag_bits.__REQ_PREFLUSH} & 1))
		+ 70 * (rq.cmd_flags >> {req_flag_bits.__REQ_PREFLUSH} & 1) AS rwbs:10;
	-- The errno of a blk_status_t.  6.10, with __bd_flags, renumbered those from 14 on; its
	-- 14 never completes a request before.
	error AS error;
	CASE error WHEN 0 THEN 0 WHEN 1 THEN -95 WHEN 2 THEN -110 WHEN 3 THEN -28 WHEN 4 THEN -67
		WHEN 5 THEN -121 WHEN 6 THEN -52 WHEN 7 THEN -61 WHEN 8 THEN -84 WHEN 9 THEN -12
		WHEN 11 THEN -78 WHEN 12 THEN -11 WHEN 13 THEN -16
		ELSE CASE error + {struct block_device.__bd_flags?1:0} WHEN 15 THEN -109
			WHEN 16 THEN -75 WHEN 17 THEN -19 WHEN 18 THEN -62 WHEN 20 THEN -22
			ELSE -5 END END AS error;
	-- block_rq_complete alone has nr_bytes.
	nr_bytes >> 9 AS nr_sector;
	iif(rq.cmd_flags & 255 = {req_op.REQ_OP_DRV_IN}
		OR rq.cmd_flags & 255 = {req_op.REQ_OP_DRV_OUT}, 0, rq.__data_len >> 9)
		AS nr_sector;
	iif(nr_bytes >= 0, rq.__sector, 0) AS sector;
	iif(rq.cmd_flags & 255 = {req_op.REQ_OP_DRV_IN}
		OR rq.cmd_flags & 255 = {req_op.REQ_OP_DRV_OUT}
		OR rq.__sector = 18446744073709551615, 0, rq.__sector) AS sector;

block:block_bio_queue block:block_getrq
	bio.bi_bdev.bd_dev AS dev; bio.bi_iter.bi_sector AS sector;
	bio.bi_iter.bi_size >> 9 AS nr_sector; current.comm AS comm;

irq:irq_handler_entry
	irq AS irq; action.name AS name;

irq:irq_handler_exit
	irq AS irq; ret AS ret;

irq:softirq_entry irq:softirq_exit irq:softirq_raise
	vec_nr AS vec;

timer:timer_init timer:timer_cancel timer:timer_expire_exit timer:timer_start
	timer AS timer; timer.function AS function; timer.expires AS expires;
	timer.flags AS flags;

timer:timer_expire_entry
	timer AS timer; timer.function AS function; baseclk AS baseclk;

timer:hrtimer_start timer:hrtimer_cancel timer:hrtimer_expire_entry timer:hrtimer_expire_exit
timer:hrtimer_init timer:hrtimer_setup
	hrtimer AS hrtimer; timer AS hrtimer; hrtimer.function AS function;
	hrtimer.node.expires AS expires; hrtimer._softexpires AS softexpires;
	mode AS mode; clockid AS clockid;

signal:signal_generate
	sig AS sig; task.comm AS comm; task.pid AS pid; group AS group; result AS result;

signal:signal_deliver
	sig AS sig; ka.sa.sa_handler AS sa_handler; ka.sa.sa_flags AS sa_flags;

exceptions:page_fault_user exceptions:page_fault_kernel
	address AS address; regs.ip AS ip; error_code AS error_code;

raw_syscalls:sys_enter raw_syscalls:sys_exit
	ret AS ret; id AS id;

workqueue:workqueue_queue_work
	work AS work; work.func AS function; pwq.wq.name AS workqueue; req_cpu AS req_cpu;
	pwq.pool.cpu AS cpu;

workqueue:workqueue_activate_work
	work AS work; work.func AS function;

kmem:kfree
	call_site AS call_site; ptr AS ptr;

kmem:kmem_cache_free
	call_site AS call_site; ptr AS ptr; s.name AS name;

kmem:kmalloc
	call_site AS call_site; ptr AS ptr; bytes_req AS bytes_req; bytes_alloc AS bytes_alloc;
	gfp_flags + 0 AS gfp_flags; node AS node;

kmem:kmem_cache_alloc
	call_site AS call_site; ptr AS ptr; s.object_size + 0 AS bytes_req;
	s.size + 0 AS bytes_alloc; gfp_flags + 0 AS gfp_flags; node AS node;

net:net_dev_queue net:netif_receive_skb net:netif_rx
	skb AS skbaddr; skb.len AS len; skb.dev.name AS name;

net:net_dev_xmit
	skb AS skbaddr; skb_len AS len; rc AS rc; dev.name AS name;

skb:kfree_skb skb:consume_skb
	skb AS skbaddr; location AS location; reason AS reason;
	(skb.protocol & 255) << 8 | (skb.protocol >> 8) AS protocol;

sock:inet_sock_set_state
	sk AS skaddr; oldstate AS oldstate; newstate AS newstate;
	sk.__sk_common.skc_family AS family; sk.sk_protocol AS protocol;
	(sk.__sk_common.skc_dport & 255) << 8 | (sk.__sk_common.skc_dport >> 8) AS dport;

tcp:tcp_destroy_sock tcp:tcp_rcv_space_adjust
	sk AS skaddr; skb AS skbaddr; sk.__sk_common.skc_family AS family;
	(sk.__sk_common.skc_dport & 255) << 8 | (sk.__sk_common.skc_dport >> 8) AS dport;

-- A parent that this PID namespace has no number for is 0, as getppid() has it.  States as
-- task_state_index() and ps have them.
iter:task
	current.pid AS pid; current.tid AS tid;
	CASE WHEN current.ppid IS NULL THEN 0 ELSE current.ppid END AS ppid;
	task.comm AS comm; task.real_cred.uid.val AS uid; task.real_cred.gid.val AS gid;
	CASE WHEN task.__state & 1026 = 1026 THEN 73
		WHEN task.__state & 36864 <> 0 THEN 68
		WHEN (task.__state | task.exit_state) & 64 <> 0 THEN 80
		WHEN (task.__state | task.exit_state) & 32 <> 0 THEN 90
		WHEN (task.__state | task.exit_state) & 16 <> 0 THEN 88
		WHEN (task.__state | task.exit_state) & 8 <> 0 THEN 116
		WHEN (task.__state | task.exit_state) & 4 <> 0 THEN 84
		WHEN (task.__state | task.exit_state) & 2 <> 0 THEN 68
		WHEN (task.__state | task.exit_state) & 1 <> 0 THEN 83 ELSE 82 END AS state;
	task.cpu AS cpu; task.thread_info.cpu AS cpu; task.signal.nr_threads AS threads;
	task.start_time AS start_time; task.se.sum_exec_runtime AS runtime;
	task.utime AS utime; task.stime AS stime; task.mm.total_vm AS vm_pages;
	(task.flags >> 21) & 1 AS is_kernel; task.cgroups.dfl_cgrp.kn.id AS cgroup;

iter:task_file
	current.pid AS pid; task.group_leader.comm AS comm; task.real_cred.uid.val AS uid;
	file.f_path.dentry.d_name.name AS name; file.f_inode.i_ino AS inode;
	file.f_inode.i_sb.s_dev AS dev; file.f_inode.i_mode AS mode;
	file.f_flags AS flags; file.f_pos AS pos;

-- A socket in TIME_WAIT (6) or NEW_SYN_RECV (12) is a smaller struct, which has the addresses alone.
-- Ports of the other side are in the order of the network.
iter:tcp
	sk_common.skc_state AS state; sk_common.skc_family AS family;
	CASE sk_common.skc_family WHEN 2 THEN sk_common.skc_rcv_saddr ELSE 0 END AS laddr;
	CASE sk_common.skc_family WHEN 2 THEN sk_common.skc_daddr ELSE 0 END AS raddr;
	sk_common.skc_num AS lport;
	(sk_common.skc_dport & 255) << 8 | (sk_common.skc_dport >> 8) AS rport;
	CASE WHEN sk_common.skc_state IN (6, 12) THEN 0
		WHEN sk_common.skc_state = 10 THEN tcp_sk.inet_conn.icsk_inet.sk.sk_ack_backlog
		ELSE (tcp_sk.rcv_nxt - tcp_sk.copied_seq) & 4294967295 END AS rx_queue;
	CASE WHEN sk_common.skc_state IN (6, 10, 12) THEN 0
		ELSE (tcp_sk.write_seq - tcp_sk.snd_una) & 4294967295 END AS tx_queue;
	CASE WHEN sk_common.skc_state IN (6, 12) THEN 0
		ELSE tcp_sk.inet_conn.icsk_inet.sk.sk_socket.file.f_inode.i_ino END AS inode;
	sk_common.skc_net.net.ns.inum AS netns;

iter:udp
	udp_sk.inet.sk.__sk_common.skc_family AS family;
	CASE udp_sk.inet.sk.__sk_common.skc_family
		WHEN 2 THEN udp_sk.inet.sk.__sk_common.skc_rcv_saddr ELSE 0 END AS laddr;
	CASE udp_sk.inet.sk.__sk_common.skc_family
		WHEN 2 THEN udp_sk.inet.sk.__sk_common.skc_daddr ELSE 0 END AS raddr;
	udp_sk.inet.sk.__sk_common.skc_num AS lport;
	(udp_sk.inet.sk.__sk_common.skc_dport & 255) << 8
		| (udp_sk.inet.sk.__sk_common.skc_dport >> 8) AS rport;
	udp_sk.inet.sk.sk_backlog.rmem_alloc.counter - udp_sk.forward_deficit AS rx_queue;
	udp_sk.inet.sk.sk_wmem_alloc.refs.counter - 1 AS tx_queue;
	udp_sk.inet.sk.sk_socket.file.f_inode.i_ino AS inode;
	udp_sk.inet.sk.__sk_common.skc_net.net.ns.inum AS netns;

-- Before 5.17 what counts is a plain number.
iter:bpf_prog
	prog.aux.id AS id; prog.aux.name AS name; prog.type AS type;
	prog.aux.user.uid.val AS uid; prog.len AS insns;
	{%} prog.stats.cnt.v.a.a.counter AS run_cnt; {%} prog.stats.cnt AS run_cnt;
	{%} prog.stats.nsecs.v.a.a.counter AS run_time_ns; {%} prog.stats.nsecs AS run_time_ns;

iter:bpf_map
	map.id AS id; map.name AS name; map.map_type AS type; map.key_size AS key_bytes;
	map.value_size AS value_bytes; map.max_entries AS max_entries;
