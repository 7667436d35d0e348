/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of numbers: what headers and data bases of this machine say, and that the way back from a
 * name leads to the numbers that are shown so, and to no other.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/futex.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cat/cat.h"

static const char *shown(const char *function, s64 x)
{
	static char room[NAMING_BYTES];
	const struct naming *naming = naming_find(function);

	assert_non_null(naming);
	return naming->name_of(naming, &x, 1, room) ?: "";
}

static void test_known(void **state)
{
	assert_string_equal(shown("errno_name", ENOENT), "ENOENT");
	assert_string_equal(shown("errno_name", -ENOENT), "ENOENT");
	assert_string_equal(shown("errno_name", -512), "ERESTARTSYS");
	assert_string_equal(shown("errno_name", 0), "");
	assert_string_equal(shown("errno_name", 520), "");
	assert_string_equal(shown("errno_name", INT64_MIN), "");
	assert_string_equal(shown("signal_name", SIGKILL), "SIGKILL");
	assert_string_equal(shown("signal_name", 34), "SIGRTMIN");
	assert_string_equal(shown("signal_name", 64), "SIGRTMIN+30");
	assert_string_equal(shown("signal_name", 65), "");
	assert_string_equal(shown("capability_name", 40), "CAP_CHECKPOINT_RESTORE");
	assert_string_equal(shown("open_flags", O_RDONLY), "O_RDONLY");
	assert_string_equal(shown("open_flags", O_RDWR | O_CLOEXEC), "O_RDWR|O_CLOEXEC");
	assert_string_equal(shown("open_flags", O_DIRECTORY | O_NOFOLLOW | O_DIRECT),
			    "O_RDONLY|O_DIRECT|O_DIRECTORY|O_NOFOLLOW");
	assert_string_equal(shown("open_flags", O_WRONLY | O_SYNC), "O_WRONLY|O_SYNC");
	assert_string_equal(shown("open_flags", O_WRONLY | O_DSYNC), "O_WRONLY|O_DSYNC");
	assert_string_equal(shown("open_flags", O_RDWR | O_TMPFILE), "O_RDWR|O_TMPFILE");
	assert_string_equal(shown("open_flags", 1 << 30), "O_RDONLY|0x40000000");
	assert_string_equal(shown("mmap_prot", 0), "PROT_NONE");
	assert_string_equal(shown("mmap_prot", PROT_READ | PROT_EXEC), "PROT_READ|PROT_EXEC");
	assert_string_equal(shown("mmap_flags", MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED),
			    "MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS");
	assert_string_equal(shown("clone_flags", CLONE_VM | CLONE_VFORK | SIGCHLD),
			    "CLONE_VM|CLONE_VFORK|SIGCHLD");
	assert_string_equal(shown("clone_flags", CLONE_NEWNS | 0x80), "CLONE_NEWNS|CLONE_NEWTIME");
	assert_string_equal(shown("clone_flags", 0), "");
	assert_string_equal(shown("family_name", AF_INET6), "AF_INET6");
	assert_string_equal(shown("family_name", AF_UNSPEC), "AF_UNSPEC");
	assert_string_equal(shown("family_name", 27), "AF_IB");
	assert_string_equal(shown("family_name", 46), "");
	assert_string_equal(shown("protocol_name", IPPROTO_ICMPV6), "IPPROTO_ICMPV6");
	assert_string_equal(shown("protocol_name", 262), "IPPROTO_MPTCP");
	assert_string_equal(shown("protocol_name", 3), "");
	assert_string_equal(shown("policy_name", SCHED_RR), "SCHED_RR");
	assert_string_equal(shown("policy_name", 4), "");
	assert_string_equal(shown("socket_type", SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC),
			    "SOCK_DGRAM|SOCK_NONBLOCK|SOCK_CLOEXEC");
	assert_string_equal(shown("socket_type", 7), "0x7");
	assert_string_equal(shown("futex_op", FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME),
			    "FUTEX_WAIT_BITSET|FUTEX_PRIVATE_FLAG|FUTEX_CLOCK_REALTIME");
	assert_string_equal(shown("futex_op", FUTEX_WAIT), "FUTEX_WAIT");
	assert_string_equal(shown("mount_flags", MS_RDONLY | MS_REC | MS_BIND),
			    "MS_RDONLY|MS_BIND|MS_REC");
	assert_string_equal(shown("mount_flags", 0), "");
	assert_string_equal(shown("request_flags", 0), "REQ_OP_READ");
	assert_string_equal(shown("request_flags", 1 | 1 << 11 | 1 << 17),
			    "REQ_OP_WRITE|REQ_SYNC|REQ_FUA");
	assert_string_equal(shown("request_flags", 4 | 1 << 22), "0x400004");
	assert_string_equal(shown("file_mode", S_IFREG | 04751), "-rwsr-x--x");
	assert_string_equal(shown("file_mode", S_IFDIR | 01777), "drwxrwxrwt");
	assert_string_equal(shown("file_mode", S_IFSOCK | 07000), "s--S--S--T");
	assert_string_equal(shown("file_mode", 0644), "rw-r--r--");
	assert_string_equal(shown("file_mode", 03 << 12), "");
	assert_string_equal(shown("file_mode", -1), "");
	assert_string_equal(shown("port_name", 65536), "");
	assert_string_equal(shown("inet", 0x0100007f), "127.0.0.1");
	assert_string_equal(shown("inet", -1), "");
	assert_string_equal(shown("inet", 1ll << 32), "");
	assert_string_equal(shown("device_name", 8 << 20 | 16), "8:16");
}

static const char *address(s64 family, u64 low, u64 high, u32 n)
{
	static char room[NAMING_BYTES];
	s64 x[] = { family, (s64)low, (s64)high };

	return naming_ntop.name_of(&naming_ntop, x, n, room) ?: "";
}

static void test_address(void **state)
{
	u64 words[2];

	assert_string_equal(address(2, 0x0100007f, 0, 2), "127.0.0.1");
	assert_string_equal(address(10, 0x0100007f, 0, 2), "");
	assert_string_equal(address(10, 0, 1ull << 56, 3), "::1");
	assert_string_equal(address(10, 0, 0x0100007fffff0000, 3), "::ffff:127.0.0.1");
	assert_string_equal(address(2, 0, 0x0100007fffff0000, 3), "127.0.0.1");
	assert_string_equal(address(2, 0x0100007f, 0, 3), "127.0.0.1");
	assert_string_equal(address(1, 0x0100007f, 0, 3), "");
	assert_true(naming_address("fe80::1", words));
	assert_string_equal(address(10, words[0], words[1], 3), "fe80::1");
	assert_false(naming_address("fe80:0::1", words)); /* it is not shown so */
	assert_false(naming_address("10.0.0.1", words));
}

static void test_users(void **state)
{
	const struct passwd *user;
	u32 n = 0;

	setpwent();
	while ((user = getpwent()) && n < 20) {
		char name[256];
		s64 uid = user->pw_uid;

		snprintf(name, sizeof(name), "%s", user->pw_name);
		/* Two may have one number: the data base says which is shown. */
		if (strcmp(getpwuid(user->pw_uid)->pw_name, name) == 0)
			assert_string_equal(shown("user_name", uid), name);
		n++;
	}
	endpwent();
	assert_true(n > 0);
	assert_string_equal(shown("group_name", 0), getgrgid(0)->gr_name);
	assert_string_equal(shown("user_name", -1), "");
	assert_string_equal(shown("user_name", UINT32_MAX), "");
}

/* What /etc/services calls a port is the first of its entries; an image may have no such file. */
static void test_ports(void **state)
{
	const struct servent *entry;
	char name[256];
	u32 n = 0;

	setservent(1);
	while ((entry = getservent()) && n < 20) {
		int port = entry->s_port;

		snprintf(name, sizeof(name), "%s", getservbyport(port, NULL)->s_name);
		assert_string_equal(shown("port_name", ntohs((u16)port)), name);
		n++;
	}
	endservent();
	if (!n) {
		print_message("SKIP: there is no /etc/services\n");
		skip();
	}
}

static const char *nearest(const char *function, const char *name)
{
	struct suggest suggest;
	s64 numbers[NAMING_NUMBERS];

	suggest_init(&suggest, name);
	assert_int_equal(naming_numbers(naming_find(function), name, numbers, &suggest), 0);
	return suggest_best(&suggest) ?: "";
}

/* By the kernel's own list. */
static void test_disks(void **state)
{
	FILE *list = popen("cd /sys/class/block && grep . */dev", "r");
	u32 major, minor, n = 0;
	char name[200];

	assert_non_null(list);
	while (fscanf(list, " %199[^/]/dev:%u:%u", name, &major, &minor) == 3) {
		s64 number = 0;
		struct suggest suggest;

		assert_string_equal(shown("disk_name", (s64)major << 20 | minor), name);
		suggest_init(&suggest, name);
		assert_int_equal(naming_numbers(naming_find("disk_name"), name, &number, &suggest),
				 1);
		assert_int_equal(number, (s64)major << 20 | minor);
		n++;
	}
	pclose(list);
	assert_true(n > 0);
	assert_string_equal(shown("disk_name", 0xfffffff0), "4095:1048560");
	assert_string_equal(shown("disk_name", -1), "");
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Own cgroups, of which some have names as of containers. */
static void test_cgroups(void **state)
{
	static const struct {
		const char *path, *container;
	} made[] = {
		{ "", "" },
		{ "/docker-" ID ".scope", ID },
		{ "/docker-" ID ".scope/within", ID },
		{ "/0123456789ab", "0123456789ab" },
		{ "/cri-containerd-" ID "0.scope", "" },
		{ "/libpod-" ID, ID },
		{ "/user-1000", "" },
	};
	s64 ids[ARRAY_SIZE(made)], number;
	char mount[200], folder[2000], paths[ARRAY_SIZE(made)][200];
	struct suggest suggest;
	struct stat stat_of;
	FILE *table = popen("findmnt -nt cgroup2 -o TARGET | head -n 1", "r");
	bool is_there = fscanf(table, "%199s", mount) == 1;

	pclose(table);
	if (!is_there || access(mount, W_OK)) {
		print_message("SKIP: no cgroup2 is mounted where this process may write\n");
		skip();
	}
	for (u32 i = 0; i < ARRAY_SIZE(made); i++) {
		snprintf(paths[i], sizeof(paths[i]), "/ebql-test-%d%s", getpid(), made[i].path);
		snprintf(folder, sizeof(folder), "%s%s", mount, paths[i]);
		assert_int_equal(mkdir(folder, 0755), 0);
		assert_int_equal(stat(folder, &stat_of), 0);
		ids[i] = (s64)stat_of.st_ino;
	}
	/* The tree is not walked all the time. */
	for (u32 i = 0; i < 500 && !shown("cgroup_path", ids[ARRAY_SIZE(made) - 1])[0]; i++)
		usleep(10000);
	for (u32 i = 0; i < ARRAY_SIZE(made); i++) {
		assert_string_equal(shown("cgroup_path", ids[i]), paths[i]);
		assert_string_equal(shown("container_id", ids[i]), made[i].container);
		suggest_init(&suggest, paths[i]);
		assert_int_equal(
			naming_numbers(naming_find("cgroup_path"), paths[i], &number, &suggest), 1);
		assert_int_equal(number, ids[i]);
	}
	for (u32 i = ARRAY_SIZE(made); i--;) {
		snprintf(folder, sizeof(folder), "%s%s", mount, paths[i]);
		assert_int_equal(rmdir(folder), 0);
	}
	/* What it was stays known; nothing is there any more. */
	assert_string_equal(shown("cgroup_path", ids[1]), paths[1]);
	assert_string_equal(nearest("cgroup_path", paths[1]), "");
	assert_string_equal(nearest("cgroup_path", "system.slice"), "");
	assert_string_equal(shown("cgroup_path", 1), "/");
	assert_string_equal(shown("cgroup_path", INT64_MAX), "");
}

/* Of each function, over what it may name: the numbers of a name have it, and x is one of them. */
static void check_way_back(const struct naming *naming, s64 x)
{
	s64 numbers[NAMING_NUMBERS];
	char room[NAMING_BYTES], again[NAMING_BYTES], digits[24];
	const char *name = naming->name_of(naming, &x, 1, room);
	struct suggest suggest;
	bool is_there = false;
	u32 n;

	snprintf(digits, sizeof(digits), "%lld", (long long)x);
	name = name ?: digits;
	suggest_init(&suggest, name);
	n = naming_numbers(naming, name, numbers, &suggest);
	for (u32 i = 0; i < n; i++) {
		const char *other = naming->name_of(naming, &numbers[i], 1, again);

		is_there |= numbers[i] == x;
		assert_string_equal(other ?: digits, name);
	}
	if (!is_there)
		fail_msg("%s(%lld) is %s, which is not its name", naming->name, (long long)x, name);
}

static void test_way_back(void **state)
{
	u32 n = 0;

	for (u32 i = 0; i < n_namings; i++) {
		const struct naming *naming = namings[i];

		if (!naming->example || naming->bits_of)
			continue;
		n++;
		for (s64 x = -40; x < 300; x++)
			if (!naming->of_signed || x >= 0)
				check_way_back(naming, x);
		for (s64 x = 0; x <= 0xffff && naming == naming_find("file_mode"); x++)
			check_way_back(naming, x);
		for (u32 bit = 8; bit < 63; bit++) {
			check_way_back(naming, 1ll << bit);
			check_way_back(naming, (1ll << bit) + 1);
		}
		for (s64 x = -600; x < 10 && naming->of_signed; x++)
			check_way_back(naming->of_signed, x);
	}
	assert_true(n > 10);
}

/* Each number is among those of its name, and of no other. */
static void test_bits(void **state)
{
	static const char *const names[] = { "running", "sleeping", "disk sleep", "stopped",
					     "traced",	"dead",	    "zombie",	  "parked",
					     "idle",	"runnable" };
	const struct naming *naming = naming_find("task_state");
	struct naming_bits bits[NAMING_NUMBERS];
	struct suggest suggest;

	for (s64 x = -3000; x < 3000; x++) {
		for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
			bool is_among = false;
			u32 n;

			suggest_init(&suggest, names[i]);
			n = naming->bits_of(names[i], bits, &suggest);
			assert_true(n > 0);
			while (n--)
				is_among |= bits[n].mask ? (x & bits[n].mask) == bits[n].value
							 : x == bits[n].value;
			assert_int_equal(is_among, strcmp(shown("task_state", x), names[i]) == 0);
		}
	}
	suggest_init(&suggest, "sleping");
	assert_int_equal(naming->bits_of("sleping", bits, &suggest), 0);
	assert_string_equal(suggest_best(&suggest), "sleeping");
}

static void test_nearest(void **state)
{
	assert_string_equal(nearest("errno_name", "ENOENTT"), "ENOENT");
	assert_string_equal(nearest("errno_name", "2"), ""); /* it has a name */
	assert_string_equal(nearest("syscall_name", "raed"), "read");
	assert_string_equal(nearest("user_name", "rot"), "root");
	assert_string_equal(nearest("group_name", "rot"), "root");
	assert_string_equal(nearest("open_flags", "O_CLOEXEC|O_RDWR"), "O_RDWR|O_CLOEXEC");
	assert_string_equal(nearest("open_flags", "O_CLOEXEC"), "O_RDONLY|O_CLOEXEC");
	assert_string_equal(nearest("open_flags", "O_RDWR|O_CLOSEXEC"), "O_CLOEXEC");
	assert_string_equal(nearest("open_flags", ""), "");
	assert_string_equal(nearest("inet", "10.0.0.256"), "");
	assert_string_equal(nearest("inet", "::1"), "");
	assert_string_equal(nearest("device_name", "8:016"), "");
	assert_string_equal(nearest("family_name", "AF_INET66"), "AF_INET6");
	assert_string_equal(nearest("socket_type", "SOCK_STREM"), "SOCK_STREAM");
	assert_string_equal(nearest("file_mode", "-rw-r--r-z"), "");
	assert_string_equal(nearest("file_mode", "?rw-r--r--"), "");
	assert_string_equal(nearest("file_mode", "rw"), "");
	assert_string_equal(nearest("port_name", "no such service"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),	cmocka_unit_test(test_address),
		cmocka_unit_test(test_users),	cmocka_unit_test(test_way_back),
		cmocka_unit_test(test_nearest), cmocka_unit_test(test_disks),
		cmocka_unit_test(test_cgroups), cmocka_unit_test(test_ports),
		cmocka_unit_test(test_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
