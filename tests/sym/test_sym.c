/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of addresses: tables of symbols, modules that come, and processes of known code: in a PID
 * namespace with a /tmp of its own, before and after execve(2), and of addresses that nothing has.
 */
#include "sym/internal.h"

#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/sys.h"

/* --- Tables --- */

enum { PLACES = 100, EACH = 40 };

static void fill(struct arena *arena, struct symbol_table *table, char (*names)[16])
{
	for (u32 i = 0; i < PLACES * EACH; i++) {
		snprintf(names[i], sizeof(names[i]), "s%u", i);
		vec_push(arena, &table->list,
			 (struct symbol){ 0x1000 + 64 * (i * 7 % PLACES), 0, names[i] });
	}
}

/* Of several at one place the first of the list has it, or the last: no chance. */
static void test_one_place(void **unused)
{
	static char names[PLACES * EACH][16];

	for (u32 keeps_last = 0; keeps_last < 2; keeps_last++) {
		struct symbol_table table = { 0 };
		struct arena arena;

		arena_init(&arena);
		fill(&arena, &table, names);
		symbol_table_sort(&table, keeps_last);
		assert_int_equal(table.list.n, PLACES);
		for (u32 i = 0; i < PLACES; i++) {
			const struct symbol *s =
				symbol_table_find(&table, 0x1000 + 64 * (i * 7 % PLACES) + 63);

			assert_string_equal(s->name,
					    names[i + (keeps_last ? PLACES * (EACH - 1) : 0)]);
		}
		arena_free(&arena);
	}
}

/* What has no size ends at the next one, and is no larger than any function is. */
static void test_far(void **unused)
{
	struct symbol_table table = { 0 };
	struct arena arena;

	arena_init(&arena);
	vec_push(&arena, &table.list, (struct symbol){ 0x10000, 0x10, "sized" });
	vec_push(&arena, &table.list, (struct symbol){ 0x20000, 0, "last" });
	symbol_table_sort(&table, false);
	assert_null(symbol_table_find(&table, 0xffff));
	assert_string_equal(symbol_table_find(&table, 0x1000f)->name, "sized");
	assert_null(symbol_table_find(&table, 0x10010));
	assert_string_equal(symbol_table_find(&table, 0x20000 + (1 << 20) - 1)->name, "last");
	assert_null(symbol_table_find(&table, 0x20000 + (1 << 20)));
	arena_free(&arena);
}

/* --- Names --- */

/* Of one call, which frees what it had before; "": none. */
static const char *name_of(struct namer *namer, u32 pid, u64 address)
{
	static char text[256];
	struct stack *stack = calloc(1, sizeof(*stack) + sizeof(u64));

	stack->pid = pid;
	stack->n = 1;
	stack->addresses[0] = address;
	namer_name(namer, stack);
	assert_non_null(stack->names);
	snprintf(text, sizeof(text), "%s", stack->names[0] ?: "");
	free((void *)stack->names);
	free(stack);
	return text;
}

static int file_of(const char *text)
{
	char path[] = "/tmp/ebql-sym-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void set(int fd, const char *text)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
}

/* A module that is loaded, or is elsewhere by now, while the program runs; users do not matter. */
static void test_modules(void **unused)
{
	struct namer *namer = namer_open();
	const u64 at = 0xffffffffc0001010;

	close(namer->kernel.fd);
	close(namer->kernel.modules_fd);
	namer->kernel.fd = file_of("ffffffff81000000 T start\nffffffff81000100 t next\n");
	namer->kernel.modules_fd = file_of("old 4096 0 - Live 0xffffffffc0100000\n");
	assert_string_equal(name_of(namer, 0, 0xffffffff81000110), "next");
	assert_string_equal(name_of(namer, 0, at), "");
	set(namer->kernel.fd, "ffffffff81000000 T start\nffffffffc0001000 t fresh\t[mod]\n");
	namer->kernel.looked_ns = 0;
	set(namer->kernel.modules_fd, "old 4096 7 a,b, Live 0xffffffffc0100000\n");
	assert_string_equal(name_of(namer, 0, at), "");
	namer->kernel.looked_ns = 0;
	set(namer->kernel.modules_fd, "mod 4096 0 - Live 0xffffffffc0001000\n"
				      "old 4096 0 - Live 0xffffffffc0100000\n");
	assert_string_equal(name_of(namer, 0, at), "fresh [mod]");
	assert_string_equal(name_of(namer, 0, 0xffffffff81000110), "start");
	namer_close(namer);
}

/* --- Processes --- */

int known_function(int n);

__attribute__((noinline)) int known_function(int n)
{
	__asm__ volatile("" : "+r"(n) : : "memory");
	return n + 1;
}

static const char *own_name(struct namer *namer, u32 pid)
{
	return name_of(namer, pid, (uintptr_t)known_function);
}

static void *library;

/* It comes when the program runs already. */
static void map_library(int out)
{
	void *at;

	library = dlopen("libBrokenLocale.so.1", RTLD_NOW);
	at = library ? dlsym(library, "__ctype_get_mb_cur_max") : NULL;
	write(out, &at, sizeof(at));
}

static void unmap_library(int out)
{
	int error = library ? dlclose(library) : -1;

	write(out, &error, sizeof(error));
}

/* A child that does what `does` does, says so, and waits for what is said to it. */
struct child {
	int pid, in, out;
	int direct; /* of ours: it, or the parent of the namespace's first process */
};

static struct child start(void (*does)(int out), int unshared)
{
	int to[2], from[2], pid;
	struct child child;

	assert_int_equal(pipe(to) | pipe(from), 0);
	pid = fork();
	if (pid == 0) {
		char c;

		/* It ends where the test does, however that ends. */
		close(to[1]);
		if (unshared && unshare(unshared))
			_exit(77);
		/* The child of this one is the first of the namespace. */
		if (unshared && (pid = fork()) > 0) {
			write(from[1], &pid, sizeof(pid));
			waitpid(pid, NULL, 0);
			_exit(0);
		}
		if (!unshared) {
			pid = getpid();
			write(from[1], &pid, sizeof(pid));
		}
		/* Behind the pid, which the parent may write later than this one could. */
		if (read(to[0], &c, 1) != 1)
			_exit(0);
		does(from[1]);
		while (read(to[0], &c, 1) > 0)
			if (c == 'x')
				execl("/bin/sleep", "sleep", "100", NULL);
			else if (c == 'm')
				map_library(from[1]);
			else if (c == 'u')
				unmap_library(from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	child = (struct child){ .in = to[1], .out = from[0], .direct = pid };
	if (read(child.out, &child.pid, sizeof(child.pid)) != sizeof(child.pid) ||
	    write(child.in, "", 1) != 1)
		child.pid = 0;
	return child;
}

static void end(struct child *child)
{
	if (child->pid > 0)
		kill(child->pid, SIGKILL);
	close(child->in);
	close(child->out);
	waitpid(child->direct, NULL, 0);
}

/* Code that no file has, and the map of it in a /tmp that others do not see. */
static void make_code(int out)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	char path[64];
	FILE *map;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		_exit(77);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx 40 made_inside\n", (long)at);
	fclose(map);
	write(out, &at, sizeof(at));
}

static void test_namespace(void **unused)
{
	struct namer *namer = namer_open();
	struct child child;
	u64 at;

	if (geteuid()) {
		print_message("SKIP: needs root\n");
		skip();
	}
	child = start(make_code, CLONE_NEWPID | CLONE_NEWNS);
	assert_true(child.pid > 0);
	assert_int_equal(read(child.out, &at, sizeof(at)), sizeof(at));
	assert_string_equal(name_of(namer, (u32)child.pid, at + 8), "made_inside");
	assert_string_equal(own_name(namer, (u32)child.pid), "known_function");
	end(&child);
	/* What it was is known. */
	assert_string_equal(own_name(namer, (u32)child.pid), "known_function");
	namer_close(namer);
}

static void nothing(int out)
{
	write(out, "", 1);
}

/* Where the code of that file is; 0: it is not mapped. */
static u64 code_of(int pid, const char *file)
{
	char path[64], line[512];
	u64 at = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && !at && fgets(line, sizeof(line), maps))
		if (strstr(line, " r-xp ") && strstr(line, file))
			at = strtoull(line, NULL, 16);
	if (maps)
		fclose(maps);
	return at;
}

/* Another program at its time: and what was met before it still has its names. */
static void test_exec(void **unused)
{
	struct namer *namer = namer_open();
	struct child child = start(nothing, 0);
	u64 at = 0;
	char c;

	assert_int_equal(read(child.out, &c, 1), 1);
	assert_string_equal(own_name(namer, (u32)child.pid), "known_function");
	assert_int_equal(namer->n_processes, 1);
	assert_int_equal(write(child.in, "x", 1), 1);
	for (u32 i = 0; i < 1000 && !(at = code_of(child.pid, "/sleep")); i++)
		usleep(10000);
	usleep(10000);
	assert_memory_equal(name_of(namer, (u32)child.pid, at + 1), "[sleep+0x", 9);
	assert_int_equal(namer->n_processes, 2);
	assert_string_equal(own_name(namer, (u32)child.pid), "known_function");
	assert_int_equal(namer->n_processes, 2);
	end(&child);
	namer_close(namer);
}

/* What it had mapped at one of the looks, and not only at the first or last, has names when it has
 * ended. */
static void test_looks(void **unused)
{
	struct child child = start(nothing, 0);
	char room[64] = "", c;
	int error = -1;
	u64 at = 0;

	assert_int_equal(read(child.out, &c, 1), 1);
	sym_user_look((u32)child.pid);
	assert_int_equal(write(child.in, "m", 1), 1);
	assert_int_equal(read(child.out, &at, sizeof(at)), sizeof(at));
	assert_int_not_equal(at, 0);
	/* Longer than it has been there: the next one is due. */
	usleep(100000);
	sym_user_look((u32)child.pid);
	assert_int_equal(write(child.in, "u", 1), 1);
	assert_int_equal(read(child.out, &error, sizeof(error)), sizeof(error));
	assert_int_equal(error, 0);
	assert_int_equal(code_of(child.pid, "libBrokenLocale"), 0);
	usleep(100000);
	sym_user_look((u32)child.pid);
	end(&child);
	assert_true(sym_user_name((u32)child.pid, at, room, sizeof(room)));
	assert_string_equal(room, "__ctype_get_mb_cur_max");
}

/* Nothing is kept of addresses that no file has. */
static void test_garbage(void **unused)
{
	struct namer *namer = namer_open();
	u64 used, file = (uintptr_t)known_function;

	name_of(namer, (u32)getpid(), file);
	for (u64 i = 0; i < 100; i++)
		name_of(namer, (u32)getpid(), 0x10 + i);
	used = arena_used(&namer->arena);
	for (u64 i = 0; i < 20000; i++) {
		assert_string_equal(name_of(namer, (u32)getpid(), 0x1000 + i), "");
		assert_string_equal(name_of(namer, (u32)getpid(), file), "known_function");
	}
	assert_int_equal(arena_used(&namer->arena), used);
	assert_int_equal(namer->n_processes, 1);
	namer_close(namer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_place), cmocka_unit_test(test_far),
		cmocka_unit_test(test_modules),	  cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_exec),	  cmocka_unit_test(test_looks),
		cmocka_unit_test(test_garbage),
	};

	sys_rights_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
