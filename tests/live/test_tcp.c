/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The views of TCP connections beside connects that are refused: these leave nothing behind that
 * would crowd out the starts of others.  The workload has a network of its own.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum { REFUSED = 5000, CONNECTED = 200, IN_FLIGHT = 64 };

/* --- The workload --- */

static void need(bool is_so, const char *what)
{
	if (!is_so) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void enter_own_network(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	need(unshare(CLONE_NEWNET) == 0, "unshare");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	need(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0, "loopback");
	close(fd);
}

static int tcp_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	need(fd >= 0, "socket");
	return fd;
}

/* Bound to a port of its own, which is returned. */
static struct sockaddr_in bind_to_any(int fd)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);

	need(bind(fd, (struct sockaddr *)&address, n) == 0, "bind");
	need(getsockname(fd, (struct sockaddr *)&address, &n) == 0, "getsockname");
	return address;
}

static void be_refused(const struct sockaddr_in *nobody)
{
	int fd = tcp_socket();

	need(connect(fd, (const struct sockaddr *)nobody, sizeof(*nobody)) < 0 &&
		     errno == ECONNREFUSED,
	     "refused");
	close(fd);
}

/* Both sides are closed once this returns: the one by its close, the other by the reset. */
static void connect_and_reset(int listener, const struct sockaddr_in *address)
{
	const struct linger at_once = { .l_onoff = 1 };
	int fd = tcp_socket(), peer;
	char byte;

	need(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0, "connect");
	peer = accept(listener, NULL, NULL);
	need(peer >= 0, "accept");
	need(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0, "linger");
	close(fd);
	need(read(peer, &byte, 1) < 0 && errno == ECONNRESET, "reset");
	close(peer);
}

static int work(void)
{
	struct sockaddr_in address, nobody;
	int listener, unheard;
	char line[32];

	enter_own_network();
	listener = tcp_socket();
	unheard = tcp_socket();
	address = bind_to_any(listener);
	nobody = bind_to_any(unheard);
	need(listen(listener, 8) == 0, "listen");
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "port")) {
			work_answer("%u is the port\n", ntohs(address.sin_port));
			continue;
		}
		for (u32 i = 0; i < REFUSED; i++) {
			be_refused(&nobody);
			if (i % (REFUSED / CONNECTED) == 0)
				connect_and_reset(listener, &address);
		}
		work_answer("done\n");
	}
	return 0;
}

/* --- The views --- */

struct counts {
	struct watch watch;
	u64 n, n_called;
};

static void take_counts(void *context, const struct line *line)
{
	struct counts *c = context;

	c->n += line_number(line, "n");
	c->n_called += line_number(line, "called");
}

static void expect(struct counts *c, const char *view, u64 n)
{
	const struct reader_totals *totals = &c->watch.reader.totals;
	unsigned port;

	watch_begin(&c->watch, take_counts, c);
	watch_tell(&c->watch, "port", " is the port\n");
	assert_int_equal(sscanf(c->watch.work.out_text.at, "%u", &port), 1);
	/* Others of the machine connect too.  WHERE would keep the refused ones away as well. */
	watch_ebql(&c->watch,
		   "SELECT count(*) FILTER (WHERE %1$u IN (sport, dport)) AS n, "
		   "count(pid) FILTER (WHERE %1$u IN (sport, dport)) AS called FROM %2$s "
		   "WINDOW TUMBLING 100ms WITH (max_in_flight = %3$d)",
		   port, view, IN_FLIGHT);
	watch_do(&c->watch, "go", -1);
	assert_int_equal(totals->full, 0);
	assert_int_equal(totals->lost, 0);
	assert_int_equal(c->n, n);
	assert_int_equal(c->n_called, CONNECTED);
}

static void test_tcp_life(void **state)
{
	expect(*state, "tcp_life", 2 * CONNECTED);
}

static void test_tcp_connect(void **state)
{
	expect(*state, "tcp_connect", CONNECTED);
}

/* Addresses of an own socket in the kernel's lists, and their bytes; 0: it is not there. */
static void test_ipv6(void **state)
{
	static const char *const members[] = { "iter:tcp", "sk_common", "iter:udp",
					       "udp_sk.inet.sk.__sk_common" };
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	char query[512], row[128];
	const char *argv[] = { proc_ebql(), "-o", "json", query, NULL };
	socklen_t n = sizeof(at);

	watch_require();
	for (u32 i = 0; i < 4; i += 2) {
		int fd = socket(AF_INET6, (i ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
		static struct proc ebql;

		ebql = (struct proc){ 0 };
		at.sin6_port = 0;
		if (fd < 0 || bind(fd, (void *)&at, n)) {
			print_message("SKIP: no IPv6 here\n");
			skip();
		}
		assert_int_equal(getsockname(fd, (void *)&at, &n), 0);
		assert_int_equal(i ? connect(fd, (void *)&at, n) : listen(fd, 1), 0);
		snprintf(
			query, sizeof(query),
			"SELECT family, inet(laddr) AS v4, ntop(family, %1$s.skc_v6_rcv_saddr) AS own, "
			"inet(%1$s.skc_v6_daddr.in6_u.u6_addr8) AS other, "
			"%1$s.skc_v6_rcv_saddr.in6_u.u6_addr8[15] AS last FROM %2$s "
			"WHERE lport = %3$u AND inet(%1$s.skc_v6_rcv_saddr) = '::1'",
			members[i + 1], members[i], ntohs(at.sin6_port));
		snprintf(row, sizeof(row),
			 "{\"family\":10,\"v4\":\"0.0.0.0\",\"own\":\"::1\",\"other\":\"%s\","
			 "\"last\":1}\n",
			 i ? "::1" : "::");
		proc_start(&ebql, argv, 0);
		assert_int_equal(proc_wait_exit(&ebql, 60000), 0);
		assert_non_null(strstr(ebql.out_text.at, row));
		proc_end_all();
		close(fd);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_tcp_life, struct counts),
		WATCH_TEST(test_tcp_connect, struct counts),
		WATCH_TEST(test_ipv6, struct counts),
	};

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("tcp", tests, NULL, NULL);
}
