-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

-- The views that ship with ebql.  The lines above a statement are what SHOW VIEWS and
-- DESCRIBE say of it: which events bound a row, and what it does not see.  Only fields
-- that kernels 5.15 to 6.18 share are used.  System calls need no view: syscall:NAME
-- (src/plan/bind_span.c) is the span from sys_enter_NAME to sys_exit_NAME.

-- requests of block devices, when they complete
--
-- From block_rq_issue (the driver gets it) to the first block_rq_complete for the same
-- device and sector: latency is the device's time.  queue_time is that from
-- block_rq_insert to the issue, NULL where no I/O scheduler queued it, and for a request
-- that the driver gave back (busy) and got once more.  bytes, rwbs, pid and comm are those
-- of the issue; who issues is often a kernel worker and not the
-- program that wrote.  Bios that were merged before the issue are one row.  A flush (FF)
-- is a row of its own, at sector 0 and of 0 bytes; what was only a flush to the program
-- has no other.  A request that completes in parts is one row, up to its first part; the
-- later parts begin at other sectors and count as never started.  Requests that are in
-- flight at one sector of one device at the same time (flushes, commands) are paired
-- latest first.  A request that is issued again is paired with its last issue; the first
-- counts as never ended.  Not seen: bios that need no request (device mapper, md, zram).
CREATE VIEW block_io AS
SELECT c.dev AS dev, c.sector AS sector, i.bytes AS bytes, i.rwbs AS rwbs,
	c.time - i.time AS latency, i.queue_time AS queue_time,
	i.time AS start_time, c.time AS time, i.pid AS pid, i.comm AS comm, c.error AS error
FROM (
	-- What has no sector is issued at 0, and completes at the largest number.
	SELECT dev, iif(sector = 18446744073709551615, 0, sector) AS sector, error, time
	FROM tracepoint:block:block_rq_complete
	WHERE nr_sector > 0 OR sector = 18446744073709551615
) AS c
PAIR JOIN (
	SELECT r.dev AS dev, r.sector AS sector, r.bytes AS bytes, r.rwbs AS rwbs,
		r.time AS time, r.time - q.time AS queue_time, current.pid AS pid,
		r.comm AS comm
	FROM tracepoint:block:block_rq_issue AS r
	LEFT PAIR JOIN tracepoint:block:block_rq_insert AS q
	ON r.dev = q.dev AND r.sector = q.sector
) AS i ON c.dev = i.dev AND c.sector = i.sector;

-- waits of threads that could run for a CPU, when they get it
--
-- From the latest of sched_wakeup, sched_wakeup_new and, for a thread that was switched
-- out while it could run on (preempted: TRUE), sched_switch, to the sched_switch to
-- that thread, on whatever CPU.  cpu and prio are those it came to run with.  A wakeup
-- that found the thread still on its CPU starts nothing: the next start replaces it.
-- Not seen: the idle threads (tid 0), threads that wait still, and the time from
-- sched_waking until the thread is in the queue of its CPU.  tid is the kernel's own
-- number, also where ebql runs in another PID namespace: the events are about other
-- threads than the one they happen in, and name them so.
CREATE VIEW run_queue AS
SELECT s.next_pid AS tid, s.next_comm AS comm, s.cpu AS cpu, s.next_prio AS prio,
	s.time - b.time AS latency, b.time AS start_time, s.time AS time,
	b.preempted AS preempted
FROM (
	SELECT next_pid, next_comm, next_prio, cpu, time
	FROM tracepoint:sched:sched_switch WHERE next_pid <> 0
) AS s
ASOF JOIN (
	SELECT pid AS tid, time, FALSE AS preempted FROM tracepoint:sched:sched_wakeup
	UNION ALL
	SELECT pid, time, FALSE FROM tracepoint:sched:sched_wakeup_new
	UNION ALL
	SELECT prev_pid, time, TRUE FROM tracepoint:sched:sched_switch
	WHERE prev_pid <> 0 AND prev_state & 255 = 0
) AS b ON s.next_pid = b.tid AND s.time >= b.time;

-- times that threads were not on a CPU, when they are back
--
-- From the sched_switch away from the thread to the next sched_switch to it, on
-- whatever CPU.  state is prev_state as it was switched out: task_state(state) names
-- it; preempted: it could have run on.  So the time blocked and the wait for a CPU
-- behind it are both in latency; run_queue has the latter alone.  tid, pid and comm are
-- the thread's own, cpu is where it came back.  Not seen: the idle threads (tid 0), threads
-- that are still away, threads that ended, and the first run of a thread.
CREATE VIEW off_cpu AS
SELECT b.tid AS tid, b.pid AS pid, b.comm AS comm, b.state AS state,
	b.preempted AS preempted, s.time - b.time AS latency, b.time AS start_time,
	s.time AS time, s.cpu AS cpu
FROM (
	SELECT next_pid, cpu, time FROM tracepoint:sched:sched_switch WHERE next_pid <> 0
) AS s
PAIR JOIN (
	SELECT prev_pid AS thread, tid, pid, prev_comm AS comm, prev_state AS state,
		prev_state & 255 = 0 AS preempted, time
	FROM tracepoint:sched:sched_switch
	WHERE prev_pid <> 0 AND prev_state & 48 = 0
) AS b ON s.next_pid = b.thread;

-- page faults of programs' own instructions (x86-64)
--
-- A point, from page_fault_user at the beginning of the fault: the kernel has no
-- tracepoint at its end, so there is no latency.  is_present: the page was there and
-- the access was not allowed (copy on write is so); else it was missing.  Not seen:
-- faults that the kernel takes on a program's memory within a system call
-- (page_fault_kernel).
CREATE VIEW page_fault AS
SELECT time, pid, tid, comm, cpu, address, ip, error_code,
	error_code & 1 <> 0 AS is_present, error_code & 2 <> 0 AS is_write,
	error_code & 16 <> 0 AS is_fetch
FROM tracepoint:exceptions:page_fault_user;

-- runs of interrupt handlers, when they return
--
-- From irq_handler_entry to irq_handler_exit on the same CPU for the same line;
-- handlers that share a line are a row each.  ret is 0 where the handler found nothing
-- to do, 1 handled, 2 its thread was woken.  Not seen: interrupts without a handler of
-- this kind (the local timer, rescheduling and other calls between CPUs), the entry
-- code around it, and the handler's thread.
CREATE VIEW irq AS
SELECT x.irq AS irq, e.name AS name, x.ret AS ret, x.cpu AS cpu,
	x.time - e.time AS latency, e.time AS start_time, x.time AS time
FROM tracepoint:irq:irq_handler_exit AS x
PAIR JOIN tracepoint:irq:irq_handler_entry AS e ON x.cpu = e.cpu AND x.irq = e.irq;

-- runs of softirqs, behind an interrupt or by ksoftirqd, when they return
--
-- From softirq_entry to softirq_exit on the same CPU for the same vector:
-- softirq_name(vec) names it.  Interrupts that hit meanwhile are in it.  Not seen: how
-- long it was pending before.
CREATE VIEW softirq AS
SELECT x.vec AS vec, x.cpu AS cpu, x.time - e.time AS latency, e.time AS start_time,
	x.time AS time
FROM tracepoint:irq:softirq_exit AS x
PAIR JOIN tracepoint:irq:softirq_entry AS e ON x.cpu = e.cpu AND x.vec = e.vec;

-- outgoing TCP connections, when they are established
--
-- From inet_sock_set_state to SYN_SENT, by the thread that calls connect, to that from
-- SYN_SENT to ESTABLISHED, for the same socket.  pid and comm are the caller's.  family
-- is 2 for IPv4, 10 for IPv6.  Not seen: attempts that failed, both sides connecting at
-- once, MPTCP and SCTP.
CREATE VIEW tcp_connect AS
SELECT e.sport AS sport, e.dport AS dport, e.family AS family, b.pid AS pid,
	b.comm AS comm, e.time - b.time AS latency, b.time AS start_time, e.time AS time
FROM (
	SELECT skaddr, sport, dport, family, newstate, time
	FROM tracepoint:sock:inet_sock_set_state WHERE oldstate = 2 AND protocol = 6
) AS e
PAIR JOIN (
	SELECT skaddr, pid, comm, time
	FROM tracepoint:sock:inet_sock_set_state WHERE newstate = 2 AND protocol = 6
) AS b ON e.skaddr = b.skaddr
WHERE e.newstate = 1;

-- TCP connections, when their socket is closed
--
-- From inet_sock_set_state to ESTABLISHED to that from any later state to CLOSE, for
-- the same socket.  pid and comm are those of who called connect, NULL for a connection
-- that was accepted (or whose connect was not seen).  Not seen: attempts that failed;
-- TIME_WAIT, which begins where the socket of the side that closed first is closed;
-- connections that were there before; MPTCP and SCTP.
CREATE VIEW tcp_life AS
SELECT e.sport AS sport, e.dport AS dport, e.family AS family, b.pid AS pid,
	b.comm AS comm, e.time - b.time AS latency, b.time AS start_time, e.time AS time
FROM (
	SELECT skaddr, sport, dport, family, time
	FROM tracepoint:sock:inet_sock_set_state
	WHERE newstate = 7 AND protocol = 6 AND oldstate NOT IN (2, 3, 7, 10, 12)
) AS e
PAIR JOIN (
	SELECT o.skaddr AS skaddr, c.pid AS pid, c.comm AS comm, o.time AS time
	FROM (
		-- Whatever leaves SYN_SENT ends that attempt, also where it failed.
		SELECT skaddr, oldstate, newstate, time
		FROM tracepoint:sock:inet_sock_set_state
		WHERE (newstate = 1 OR oldstate = 2) AND protocol = 6
	) AS o
	LEFT PAIR JOIN (
		SELECT skaddr, newstate, pid, comm, time
		FROM tracepoint:sock:inet_sock_set_state
		WHERE newstate = 2 AND protocol = 6
	) AS c ON o.skaddr = c.skaddr AND o.oldstate = c.newstate
	WHERE o.newstate = 1
) AS b ON e.skaddr = b.skaddr;

-- threads that begin and cease to wait for a CPU
--
-- change is +1 or -1 to the number of threads that could run on cpu but do not: they
-- wait.  +1: sched_wakeup of a thread that is on no CPU, sched_wakeup_new, and the
-- sched_switch from a thread that could run on; -1: the sched_switch to a thread; both:
-- sched_migrate_task of one that waits.  Every sched_switch is one row, also where that
-- makes 0; is_switch marks them.  queued, of these rows only, is the kernel's own number
-- (nr_running of the run queue, without the thread that runs): no fewer than wait, and
-- from 6.12 on also threads that sleep already but were left in the queue (delayed
-- dequeue).  A thread that was preempted as it was about to sleep waits from its wakeup
-- on.  tid is the kernel's own number, also where ebql runs in another PID namespace.
-- Needs BTF, kernel 5.16 and CONFIG_FAIR_GROUP_SCHED.
CREATE VIEW run_queue_moves AS
SELECT time, cpu,
	iif(prev.pid <> 0 AND prev.__state = 0, 1, 0)
	- iif(next.pid <> 0 AND next.__state = 0, 1, 0) AS change,
	TRUE AS is_switch, next.pid AS tid,
	next.se.cfs_rq.rq.nr_running - iif(next.pid = 0, 0, 1) AS queued
FROM raw_tracepoint:sched_switch
UNION ALL
SELECT time, p.thread_info.cpu, 1, FALSE, p.pid, NULL
FROM raw_tracepoint:sched_wakeup WHERE p.on_cpu = 0
UNION ALL
SELECT time, p.thread_info.cpu, 1, FALSE, p.pid, NULL
FROM raw_tracepoint:sched_wakeup_new
UNION ALL
SELECT time, p.thread_info.cpu, -1, FALSE, p.pid, NULL
FROM raw_tracepoint:sched_migrate_task WHERE p.on_rq = 2 AND p.__state = 0
UNION ALL
SELECT time, dest_cpu, 1, FALSE, p.pid, NULL
FROM raw_tracepoint:sched_migrate_task WHERE p.on_rq = 2 AND p.__state = 0;

-- threads that wait for a CPU, at each of its context switches
--
-- A point, at every sched_switch: depth is how many threads wait for cpu then, the one
-- that it switches to (tid, 0 the idle thread) not among them.  It is the running sum of
-- the changes in run_queue_moves since the latest switch with queued = 0, when none
-- waited: so what was not seen before that is forgotten.  It lies between 0 and queued:
-- where the sum does not, it is the nearer of the two.  Until a CPU has come to queued = 0
-- once, depth is queued.  Not seen: a thread on its way from one CPU to another, and those
-- that are throttled by the quota of their cgroup.  tid is as in run_queue_moves.
CREATE VIEW run_queue_depth AS
SELECT m.time AS time, m.cpu AS cpu,
	CASE WHEN m.queued = 0 THEN 0
		WHEN i.n IS NULL OR m.n - i.n > m.queued THEN m.queued
		WHEN m.n - i.n < 0 THEN 0
		ELSE m.n - i.n END AS depth,
	m.queued AS queued, m.tid AS tid
FROM (
	SELECT time, cpu, queued, tid, n
	FROM (
		SELECT time, cpu, is_switch, queued, tid,
			SUM(change) OVER (PARTITION BY cpu) AS n
		FROM run_queue_moves
	) AS a WHERE is_switch
) AS m
LEFT ASOF JOIN (
	SELECT time, cpu, n
	FROM (
		SELECT time, cpu, queued, SUM(change) OVER (PARTITION BY cpu) AS n
		FROM run_queue_moves
	) AS b WHERE queued = 0
) AS i ON m.cpu = i.cpu AND m.time >= i.time;

-- requests of block devices in flight, at each issue and completion
--
-- A point, at every block_rq_issue and at the block_rq_complete with the last part of a
-- request: depth is how many requests the device dev has then, the one issued (is_issue)
-- among them, the one completed not.  A request that the driver gives back
-- (block_rq_requeue) is in flight no more.  What was in flight before the query began is
-- not counted until it completes, as -1: such a depth stays too low.  Not seen: bios that
-- need no request (device mapper, md, zram).  Needs BTF.
CREATE VIEW block_queue_depth AS
SELECT time, dev, is_issue, SUM(change) OVER (PARTITION BY dev) AS depth
FROM (
	SELECT time, TRUE AS is_issue, 1 AS change,
		iif(rq.q.disk = 0, 0, rq.q.disk.major << 20 | rq.q.disk.first_minor) AS dev
	FROM raw_tracepoint:block_rq_issue
	UNION ALL
	-- What was only a flush to the program completes without an issue, at no sector.
	SELECT time, FALSE, -1,
		iif(rq.q.disk = 0, 0, rq.q.disk.major << 20 | rq.q.disk.first_minor)
	FROM raw_tracepoint:block_rq_complete
	WHERE nr_bytes >= rq.__data_len
		AND (nr_bytes > 0 OR rq.__sector = 18446744073709551615)
	UNION ALL
	SELECT time, FALSE, -1,
		iif(rq.q.disk = 0, 0, rq.q.disk.major << 20 | rq.q.disk.first_minor)
	FROM raw_tracepoint:block_rq_requeue WHERE rq.state <> 0
) AS r;
