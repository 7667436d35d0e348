#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Doings whose truth is known, each by processes of a name of its own, all at one time.  What only
# the run can tell stands in the file "truth" as lines "WHAT LEAST MOST", which the test reads.
import ctypes, fcntl, mmap, os, pty, resource, select, signal, socket, struct, subprocess, sys, time
import tempfile, threading, traceback

libc = ctypes.CDLL(None, use_errno=True)
SECOND = 10**9


def call(number, *words):
	return libc.syscall(number, *[w if isinstance(w, bytes) else ctypes.c_long(w) for w in words])


def name(text):
	libc.prctl(15, text.encode())


def truth(what, least, most=None):
	with open("truth", "a") as file:
		file.write(f"{what} {least} {least if most is None else most}\n")


def realtime(level, cpu):
	os.sched_setaffinity(0, {cpu})
	os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(level))


def spin(seconds):
	end = time.monotonic() + seconds
	while time.monotonic() < end:
		pass


def until(pid, state):
	while open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != state:
		time.sleep(0.001)


def forked(doing, *words):
	pid = os.fork()
	if pid == 0:
		status = 1
		try:
			doing(*words)
			status = 0
		except BaseException:
			traceback.print_exc()
		finally:
			os._exit(status)
	return pid


def ended(*pids):
	for pid in pids:
		if os.waitpid(pid, 0)[1]:
			sys.exit(f"doings: {pid} failed")


# --- Threads and CPUs ---

def sleeps():
	name("e-sleeps")
	took = 0
	for _ in range(10):
		begin = time.monotonic_ns()
		time.sleep(0.02)
		took += time.monotonic_ns() - begin
		spin(0.005)
	truth("slept", SECOND // 5, took)


# One waits in a pipe, the other, which is sure that it does, sleeps and wakes it.
def wakes():
	take, give = os.pipe()

	def waits():
		name("e-waits")
		took = 0
		for _ in range(5):
			begin = time.monotonic_ns()
			os.read(take, 1)
			took += time.monotonic_ns() - begin
			spin(0.02)
		truth("waited", 5 * 3 * SECOND // 100, took)

	pid = forked(waits)
	name("e-wakes")
	for _ in range(5):
		until(pid, "S")
		time.sleep(0.03)
		os.write(give, b"x")
		# Until it has read: what sleeps then waits for the next one.
		while select.select([take], [], [], 0)[0]:
			time.sleep(0.001)
	ended(pid)


# Runs of 6 ms each that nothing but what is more urgent interrupts, from another thread of ours and to
# it: a kernel may hide whose switches ours would be else.
def busy():
	def switches():
		usage = resource.getrusage(resource.RUSAGE_SELF)
		return usage.ru_nvcsw + usage.ru_nivcsw

	def fills():
		realtime(40, 0)
		spin(10)

	realtime(50, 0)
	pid = forked(fills)
	time.sleep(0.02)
	# Once before, since what is touched for the first time may take as long as a run.
	switches()
	name("begins")
	time.sleep(0.001)
	before = switches()
	name("e-busy")
	named = switches()
	for _ in range(10):
		time.sleep(0.004)
		spin(0.006)
	time.sleep(0.001)
	last = switches()
	name("done")
	truth("runs", last - named, switches() - before)
	os.kill(pid, signal.SIGKILL)
	os.waitpid(pid, 0)


# Three that could run as soon as they are woken, on a CPU that is taken for 40 ms more at least; what
# wakes them is the time.
def late():
	def runs():
		return int(open("/proc/self/schedstat").read().split()[2])

	def waits(take, give):
		realtime(40, 1)
		before = runs()
		name("e-late")
		named = runs()
		took = 0
		for _ in range(5):
			os.write(give, b"x")
			woken, = struct.unpack("q", os.read(take, 8))
			took += time.monotonic_ns() - woken
		last = runs()
		name("done")
		truth("queued", 5 * 4 * SECOND // 100, took)
		truth("waits", last - named, runs() - before)

	ready, tell = os.pipe()
	pipes = [os.pipe() for _ in range(3)]
	pids = [forked(waits, take, tell) for take, _ in pipes]
	realtime(60, 1)
	name("e-hog")
	for _ in range(5):
		for _ in range(3):
			os.read(ready, 1)
		for pid in pids:
			until(pid, "S")
		time.sleep(0.03)
		for _, give in pipes:
			os.write(give, struct.pack("q", time.monotonic_ns()))
		spin(0.04)
	ended(*pids)
	ended(forked(spins))


def spins():
	realtime(60, 1)
	name("e-spins")
	spin(0.3)
	truth("sampled", 29)


# --- System calls ---

# What each returns is 0, or -1 where the file is not there.
def stats():
	name("e-stats")
	buf = b"\0" * 1024
	for file in b"/", b"/e-nowhere":
		for n, words in enumerate(((4, file, buf), (6, file, buf), (332, -100, file, 0, 0x7ff, buf),
					   (262, -100, file + b"e-at", buf, 0))):
			for _ in range(1 << n):
				call(*words)


def users():
	name("e-users")
	call(122, 5)
	call(117, 65533, 65533, 0)
	call(105, 0)
	call(117, -1, 11, -1)
	call(113, -1, 0)
	call(105, 12)
	call(105, 0)


def capabilities():
	name("e-chroot")
	os.chroot("/")
	os.setuid(65534)
	try:
		os.chroot("/")
	except PermissionError:
		pass


def rare():
	name("e-rare")
	for _ in range(100):
		os.sched_rr_get_interval(0)
	for _ in range(50):
		os.sched_get_priority_max(os.SCHED_FIFO)
	for _ in range(20):
		os.sched_get_priority_min(os.SCHED_RR)
	zeros = os.open("/dev/zero", os.O_RDONLY)
	null = os.open("/dev/null", os.O_RDONLY)
	for n, size, fd in (10, 1, zeros), (20, 100, zeros), (5, 1, null), (3, 1, -1):
		for _ in range(n):
			vector = ctypes.create_string_buffer(struct.pack("PP", ctypes.addressof(
				ctypes.create_string_buffer(size)), size))
			ctypes.c_long(libc.syscall(295, fd, vector, 1, 0, 0))


def naps():
	name("e-naps")
	for n in 3, 3, 3, 5, 5:
		call(35, struct.pack("qq", 0, n * 1000000), 0)


def kills():
	name("e-kills")
	for signal_, pid in (signal.SIGURG, os.getpid()), (signal.SIGURG, os.getpid()), (0, os.getpid()), (
			signal.SIGTERM, 4194303):
		call(62, pid, signal_)


def opens():
	name("e-opens")
	for file in "/dev/null", "/dev/zero", "/e-nowhere", "/dev/null":
		try:
			os.open(file, os.O_RDONLY)
		except FileNotFoundError:
			pass


def execs():
	name("e-execs")
	for _ in range(3):
		subprocess.run(["/bin/true", "e-one", "two three"], check=True)


def hosts():
	name("e-hosts")
	for _ in range(3):
		socket.getaddrinfo("127.0.0.1", 80)


def calls():
	name("e-calls")
	for _ in range(50000):
		os.getppid()


# --- The kernel's memory and locks ---

def objects():
	name("e-objects")
	for _ in range(200):
		queue = libc.mq_open(b"/e-objects", os.O_CREAT | os.O_RDWR, 0o600, None)
		os.close(queue)
		libc.mq_unlink(b"/e-objects")


# What it keeps is kept by one that is there for longer than those who look on: until the test has read
# the accounts behind them.
def leaks():
	name("e-leaks")
	resource.setrlimit(resource.RLIMIT_NOFILE, (4000, 4000))
	signals = b"\0" * 128
	kept = [libc.signalfd(-1, signals, 0) for _ in range(1000)]
	for fd in [libc.signalfd(-1, signals, 0) for _ in range(500)]:
		os.close(fd)
	for fd in [call(323, 0) for _ in range(1000)][:300]:
		os.close(fd)

	rings = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) for _ in range(2)]
	for ring in rings:
		ring.setsockopt(263, 5, struct.pack("IIII", 16384, 50, 2048, 400))
	rings[1].close()

	def keeps():
		os.setsid()
		os.closerange(0, 3)
		end = time.monotonic() + 60
		while not os.path.exists("stat.after") and time.monotonic() < end:
			time.sleep(0.1)

	forked(keeps)


def killed_for_memory():
	tops = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
	top = next((t for t in tops if os.path.exists(f"{t}/cgroup.procs")), None)
	is_own = not top
	if is_own:
		top = tempfile.mkdtemp()
		subprocess.run(f"mount -t cgroup -o memory none {top} 2>/dev/null || "
			       f"mount -t cgroup2 none {top}", shell=True, check=True)
	group = f"{top}/e-memory-{os.getpid()}"
	if not os.path.exists(f"{top}/memory.limit_in_bytes"):
		open(f"{top}/cgroup.subtree_control", "w").write("+memory")
	os.mkdir(group)
	is_old = os.path.exists(f"{group}/memory.limit_in_bytes")
	open(f"{group}/memory." + ("limit_in_bytes" if is_old else "max"), "w").write("16M")

	def grows():
		name("e-memory")
		open(f"{group}/cgroup.procs", "w").write("0")
		truth("victim", os.getpid())
		open(f"/proc/self/oom_score_adj", "w").write("1000")
		bytearray(64 << 20)

	pid = forked(grows)
	assert os.waitpid(pid, 0)[1] == signal.SIGKILL
	while True:
		try:
			os.rmdir(group)
			break
		except OSError:
			time.sleep(0.01)
	if is_own:
		subprocess.run(["umount", top], check=True)
		os.rmdir(top)


# --- Disks ---

def writes():
	name("e-writes")
	page = mmap.mmap(-1, 4096)
	fd = os.open(open("name").read().strip(), os.O_WRONLY | os.O_DIRECT)
	for _ in range(16):
		os.write(fd, page)
	truth("blocks", 16)


# A file system of its own: a file of 256 pages, written back at once; and frozen for 60 ms, while
# somebody wants to make a file there.
def files():
	name("e-files")
	libc.unshare(0x20000)
	os.makedirs("mounted", exist_ok=True)
	subprocess.run(["mount", "--make-rprivate", "/"], check=True)
	subprocess.run(["mount", "-o", "loop", "files", "mounted"], check=True)
	top = os.open("mounted", os.O_RDONLY)
	libc.syncfs(top)
	device = os.fstat(top).st_dev
	truth("device", f"{os.major(device)}:{os.minor(device)}")
	with open("mounted/file", "wb") as file:
		file.write(b"x" * (1 << 20))
	truth("synced", libc.syncfs(top))

	def makes():
		name("e-makes")
		open("mounted/other", "w").close()

	fcntl.ioctl(top, 0xC0045877, 0)
	begin = time.monotonic_ns()
	try:
		pid = forked(makes)
		until(pid, "D")
		time.sleep(0.06)
	finally:
		fcntl.ioctl(top, 0xC0045878, 0)
	ended(pid)
	truth("frozen", 6 * SECOND // 100, time.monotonic_ns() - begin)
	os.close(top)
	subprocess.run(["umount", "mounted"], check=True)


# --- Networks ---

# Round trips, whose times the socket tells as the kernel has them.
def round_trips():
	listener = socket.create_server(("127.0.0.1", 0))
	port = listener.getsockname()[1]

	def answers():
		other, _ = listener.accept()
		for _ in range(30):
			other.recv(1)
			time.sleep(0.001)
			other.sendall(b"x")
		other.close()

	def info():
		return own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)

	pid = forked(answers)
	name("e-trips")
	own = socket.create_connection(("127.0.0.1", port))
	for i in range(30):
		truth("rtt", struct.unpack_from("I", info(), 68)[0] * 1000)
		own.sendall(b"x")
		own.recv(1)
	truth("rtt", struct.unpack_from("I", info(), 68)[0] * 1000)
	own.recv(1)
	# All but the answer to its SYN came to it when it was connected.
	truth("port", port)
	truth("segments", struct.unpack_from("I", info(), 140)[0] - 1)
	ended(pid)


# SYNs that go nowhere, up to their first repetition.
def repeats():
	name("e-repeats")
	libc.unshare(0x40000000)
	subprocess.run("ip tuntap add t0 mode tun && ip addr add 10.9.9.1/24 dev t0 && "
		       "ip link set t0 up", shell=True, check=True)
	own = [socket.socket() for _ in range(4)]
	# Not all of them sent again at one time, at which a program may be kept from it.
	for one in own:
		one.setblocking(False)
		one.connect_ex(("10.9.9.2", 77))
		time.sleep(0.05)

	def repeated():
		lines = [l.split() for l in open("/proc/self/net/snmp") if l.startswith("Tcp:")]
		return int(lines[1][lines[0].index("RetransSegs")])

	while repeated() < len(own):
		time.sleep(0.02)
	truth("repeated", repeated())


# Segments that go nowhere once the connections are there, up to the second time that one is sent again.
def probes():
	name("e-probes")
	libc.unshare(0x40000000)
	subprocess.run("ip link set lo up", shell=True, check=True)
	pairs = []
	for port in 7783, 7784:
		listener = socket.create_server(("127.0.0.1", port))
		own = socket.create_connection(("127.0.0.1", port))
		own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
		other, _ = listener.accept()
		for _ in range(5):
			own.sendall(b"x")
			other.recv(1)
			other.sendall(b"x")
			own.recv(1)
		pairs.append((own, other))
	subprocess.run("tc qdisc add dev lo root blackhole", shell=True, check=True)
	for _ in range(3):
		for own, _ in pairs:
			own.sendall(b"x")
	# tcpi_total_retrans: a probe, and what its timer repeats.
	while any(struct.unpack_from("I", own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 100)[0] < 2
		  for own, _ in pairs):
		time.sleep(0.02)


# Without certificates: by a key that both make.
def secrets():
	ssl = ctypes.CDLL("libssl.so.3")
	for function in ssl.TLS_method, ssl.SSL_CTX_new, ssl.SSL_new:
		function.restype = ctypes.c_void_p

	def made(fd):
		context = ctypes.c_void_p(ssl.SSL_CTX_new(ctypes.c_void_p(ssl.TLS_method())))
		ssl.SSL_CTX_ctrl(context, 124, ctypes.c_long(0x303), None)
		ssl.SSL_CTX_ctrl(context, 118, ctypes.c_long(1), None)
		assert ssl.SSL_CTX_set_cipher_list(context, b"ADH-AES128-SHA256:@SECLEVEL=0")
		both = ctypes.c_void_p(ssl.SSL_new(context))
		ssl.SSL_set_fd(both, fd)
		return both

	def reads():
		name("e-reads")
		other = made(right.fileno())
		assert ssl.SSL_accept(other) == 1
		buf, n = ctypes.create_string_buffer(100), ctypes.c_size_t()
		assert ssl.SSL_read(other, buf, 100) == 14
		assert ssl.SSL_read_ex(other, buf, ctypes.c_size_t(100), ctypes.byref(n)) == 1
		assert ssl.SSL_write(other, b"bye", 3) == 3
		right.close()

	left, right = socket.socketpair()
	pid = forked(reads)
	right.close()
	name("e-secrets")
	own = made(left.fileno())
	n = ctypes.c_size_t()
	assert ssl.SSL_connect(own) == 1
	# A length is of 32 bits, and what stands above it in the register is nothing.
	assert ssl.SSL_write(own, b"attack at dawn!!", ctypes.c_long(0x700000000 | 14)) == 14
	assert ssl.SSL_write_ex(own, b"at six", ctypes.c_size_t(6), ctypes.byref(n)) == 1
	assert ssl.SSL_read(own, ctypes.create_string_buffer(9), 9) == 3
	assert ssl.SSL_read(own, ctypes.create_string_buffer(9), 9) <= 0
	ended(pid)


# --- Programs ---

def types():
	pid, terminal = pty.fork()
	if pid == 0:
		os.execl("/bin/bash", "bash", "--norc", "--noprofile", "-i")
	truth("bash", pid)
	os.write(terminal, b": e-typed one\n: e-typed  two # not run\nexit\n")
	try:
		while os.read(terminal, 1000):
			pass
	except OSError:
		pass
	ended(pid)


# Then longer than a second, of which some tools tell whole ones.
def forks():
	name("e-forks")
	ended(*[forked(int) for _ in range(200)])
	truth("forked", 200)
	time.sleep(1.5)


# Processes whose threads end all at once.
def crowds():
	def ends():
		name("e-crowd")
		begin = threading.Barrier(9)
		for _ in range(8):
			threading.Thread(target=lambda: (begin.wait(), time.sleep(9)), daemon=True).start()
		begin.wait()
		os._exit(7)

	for pid in [forked(ends) for _ in range(12)]:
		assert os.waitpid(pid, 0)[1] == 7 << 8


doings = (sleeps, wakes, busy, late, stats, users, capabilities, rare, objects, killed_for_memory, writes,
	  files, round_trips, repeats, secrets, types, crowds, leaks)
# Or those that are named.
if len(sys.argv) > 1:
	doings = [globals()[name] for name in sys.argv[1:]]


subprocess.run(["accounts", "begin"], check=True)
ended(*[forked(d) for d in doings])
subprocess.run(["accounts", "end"], check=True)
