/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * load_grace_begin() waits for what can be preempted, whatever others look at: while a program that
 * sleeps is under way, as a thread may be between two programs of a system call's tracepoint, the
 * grace is not over.  Such a program reads user memory that nobody brings until it is let go.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "load/load.h"
#include "query.h"
#include "sys/sys.h"

struct sleeper {
	int uffd, program_fd;
	u8 *page;
	u64 page_bytes;
	bool is_over;
	pthread_t thread;
};

static void *sleeps(void *context)
{
	struct sleeper *s = context;
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (u32)s->program_fd;
	assert_int_equal(sys_bpf(BPF_PROG_TEST_RUN, &attr), 0);
	__atomic_store_n(&s->is_over, true, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Returns when the program waits for the page. */
static void sleeper_start(struct sleeper *s)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register of = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffd_msg message;
	union bpf_attr attr;

	s->page_bytes = (u64)sysconf(_SC_PAGESIZE);
	s->page = mmap(NULL, s->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	assert_true(s->page != MAP_FAILED);
	s->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	assert_true(s->uffd >= 0);
	assert_int_equal(ioctl(s->uffd, UFFDIO_API, &api), 0);
	of.range.start = sys_pointer(s->page);
	of.range.len = s->page_bytes;
	assert_int_equal(ioctl(s->uffd, UFFDIO_REGISTER, &of), 0);

	const struct bpf_insn insns[] = {
		/* copy_from_user(r10 - 8, 8, page) */
		{ BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 8 },
		{ BPF_LD | BPF_DW | BPF_IMM, BPF_REG_3, 0, 0, (s32)sys_pointer(s->page) },
		{ 0, 0, 0, 0, (s32)(sys_pointer(s->page) >> 32) },
		{ BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_copy_from_user },
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE;
	attr.insns = sys_pointer(insns);
	attr.insn_cnt = ARRAY_SIZE(insns);
	attr.license = sys_pointer("GPL");
	s->program_fd = sys_prog_load(&attr);
	assert_true(s->program_fd >= 0);
	assert_int_equal(pthread_create(&s->thread, NULL, sleeps, s), 0);
	assert_int_equal(read(s->uffd, &message, sizeof(message)), sizeof(message));
	assert_int_equal(message.event, UFFD_EVENT_PAGEFAULT);
}

static void sleeper_end(struct sleeper *s)
{
	struct uffdio_zeropage zero = { .range = { sys_pointer(s->page), s->page_bytes } };

	assert_false(__atomic_load_n(&s->is_over, __ATOMIC_SEQ_CST));
	assert_int_equal(ioctl(s->uffd, UFFDIO_ZEROPAGE, &zero), 0);
	pthread_join(s->thread, NULL);
	close(s->uffd);
	close(s->program_fd);
	munmap(s->page, s->page_bytes);
}

static u32 getppid_id(void)
{
	FILE *f = fopen("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id", "r");
	u32 id;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%u", &id), 1);
	fclose(f);
	return id;
}

static void test_waits(void **state)
{
	struct phys_set set = { .n_cpus = (u32)sysconf(_SC_NPROCESSORS_CONF) };
	struct load_chains chains;
	struct load_hooks hooks = { .set = &set, .chains = &chains };
	struct sleeper sleeper = { .uffd = -1 };
	int other_fd;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	SKIP_UNLESS(sys_kernel_version() >= KERNEL_VERSION(6, 13, 0),
		    "nothing is preempted between two programs before Linux 6.13");
	load_chains_open(&chains, NULL);
	other_fd = sys_perf_open(getppid_id(), 0);
	assert_true(other_fd >= 0);
	/* By itself it is over soon, */
	assert_int_equal(load_grace_begin(&hooks), 0);
	for (u32 i = 0; i < 10000 && !load_grace_is_over(&hooks); i++)
		usleep(1000);
	assert_true(load_grace_is_over(&hooks));
	/* and otherwise not before that is. */
	sleeper_start(&sleeper);
	assert_int_equal(load_grace_begin(&hooks), 0);
	for (u32 i = 0; i < 1000; i++) {
		usleep(1000);
		assert_false(load_grace_is_over(&hooks));
	}
	sleeper_end(&sleeper);
	for (u32 i = 0; i < 10000 && !load_grace_is_over(&hooks); i++)
		usleep(1000);
	assert_true(load_grace_is_over(&hooks));
	close(other_fd);
	load_chains_close(&chains);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_waits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
