/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of the kernel and of programs: names and arguments, of BTF and of ELF files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <bpf/btf.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "look.h"

/* Functions of programs, where symbol tables have them. */
static void test_programs(void **state)
{
	struct stream_list *found;
	struct session session;

	session_open(&session, NULL);
	found = find(&session, "uprobe:/proc/self/exe:main");
	assert_non_null(found);
	assert_true(found->streams.at[0]->file_offset > 0);
	assert_int_equal(found->streams.at[0]->n_fields, arch_own->n_arguments);
	found = find(&session, "uretprobe:/proc/self/exe:main");
	assert_string_equal(found->streams.at[0]->fields[0].name, "ret");
	assert_non_null(find(&session, "uprobe:libc.so.6:malloc"));
	session_close(&session);
	session_open(&session, NULL);
	expect_error(&session, "uprobe:/proc/self/exe:mian", "unknown-stream", "\"main\"");
	expect_error(&session, "uprobe:/tmp:main", "not-a-program", "interpreter");
	expect_error(&session, "uprobe:no_such_program:main", "unknown-stream", "write its path");
	expect_error(&session, "uprobe:/etc/passwd:main", "not-a-program", "interpreter");
	session_close(&session);
}

/* A place within a function is where one of its instructions begins. */
static void test_within(void **state)
{
	struct stream_list *begin, *found = NULL;
	struct session session;
	char name[64];
	u32 n = 0;

	session_open(&session, NULL);
	begin = find(&session, "uprobe:/proc/self/exe:main");
	assert_non_null(begin);
	for (u32 i = 1; i <= 16 && !found; i++, n++) {
		snprintf(name, sizeof(name), "uprobe:/proc/self/exe:main+%s%x", i < 10 ? "" : "0x",
			 i);
		found = find(&session, name);
	}
	assert_non_null(found);
	assert_int_equal(found->streams.at[0]->file_offset, begin->streams.at[0]->file_offset + n);
	assert_int_equal(found->streams.at[0]->n_fields, 0);
	session_close(&session);
	session_open(&session, NULL);
	expect_error(&session, "uprobe:/proc/self/exe:main+0x1000000", "unknown-stream",
		     "bytes long");
	expect_error(&session, "uprobe:/proc/self/exe:main+x", "unknown-stream",
		     "a number of bytes");
	expect_error(&session, "uretprobe:/proc/self/exe:main+4", "unknown-stream", "as a whole");
	expect_error(&session, "uprobe:/proc/self/exe:mian+4", "unknown-stream", "\"main\"");
	session_close(&session);
}

static void test_instructions(void **state)
{
	static const struct {
		u32 n;
		u8 code[16];
	} cases[] = {
		{ 1, { 0x55 } },				  /* push rbp */
		{ 4, { 0x48, 0x8d, 0x47, 0x01 } },		  /* lea rax, [rdi + 1] */
		{ 8, { 0x48, 0x8b, 0x04, 0xc5, 0, 0, 0, 0 } },	  /* [rax * 8 + 0] */
		{ 7, { 0x48, 0x8b, 0x05, 0, 0, 0, 0 } },	  /* [rip + 0] */
		{ 10, { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 } },	  /* movabs */
		{ 5, { 0x66, 0x81, 0xc1, 0x34, 0x12 } },	  /* add cx, 0x1234 */
		{ 4, { 0xf3, 0x0f, 0x1e, 0xfa } },		  /* endbr64 */
		{ 6, { 0x0f, 0x84, 0, 0, 0, 0 } },		  /* je */
		{ 9, { 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } }, /* nop */
		{ 2, { 0xf7, 0xd8 } },				  /* neg eax */
		{ 6, { 0xf7, 0xc0, 0, 0, 0, 0 } },		  /* test eax, 0 */
		{ 3, { 0xf6, 0xc1, 1 } },			  /* test cl, 1 */
		{ 6, { 0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8 } },	  /* palignr */
		{ 3, { 0xc5, 0xf8, 0x77 } },			  /* vzeroupper */
		{ 5, { 0xc4, 0xe2, 0x7d, 0x58, 0xc1 } },	  /* vpbroadcastd */
		{ 7, { 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x46, 1 } }, /* vmovups zmm */
		{ 6, { 0x64, 0x48, 0x8b, 0x44, 0x24, 8 } },	  /* mov rax, fs:[rsp + 8] */
		{ 0, { 0x06 } },				  /* none in 64 bits */
		{ 0, { [0 ... 15] = 0x66 } },			  /* longer than any */
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(arch_x86_64.instruction_bytes(cases[i].code, i ? 16 : 1),
				 cases[i].n);
	assert_int_equal(arch_x86_64.instruction_bytes(cases[4].code, 9), 0);
	assert_int_equal(arch_arm64.instruction_bytes(cases[4].code, 16), 4);
}

static void test_wildcard(void **state)
{
	struct stream_list *found;
	u64 malloc_offset;
	u32 n = 0;
	struct session session;

	session_open(&session, NULL);
	found = find(&session, "uprobe:/proc/self/exe:test_wild*d");
	assert_non_null(found);
	assert_true(found->is_wildcard);
	assert_int_equal(found->streams.n, 1);
	assert_string_equal(found->streams.at[0]->event, "test_wildcard");
	/* Each place once, by whichever of its names. */
	found = find(&session, "uprobe:libc.so.6:__libc_mall?c");
	assert_int_equal(found->streams.n, 1);
	malloc_offset = found->streams.at[0]->file_offset;
	assert_string_equal(found->streams.at[0]->event, "__libc_malloc");
	found = find(&session, "uprobe:libc.so.6:*malloc");
	assert_non_null(found);
	for (u32 i = 0; i < found->streams.n; i++)
		n += found->streams.at[i]->file_offset == malloc_offset &&
		     !strcmp(found->streams.at[i]->event, "malloc");
	assert_int_equal(n, 1);
	found = find(&session, "uprobe:libc.so.6:*");
	assert_non_null(found);
	assert_true(found->streams.n > 1000);
	expect_error(&session, "uprobe:libc.so.6:no_such*", "unknown-stream", "wildcard");
	session_close(&session);
}

/* Of several versions the one that programs are linked with, as the loader has it. */
static void test_versions(void **state)
{
	static const char *const names[] = { "timer_delete", "pthread_cond_init", "malloc" };
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	struct session session;

	assert_non_null(libc);
	session_open(&session, NULL);
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = arena_printf(&session.arena, "uprobe:libc.so.6:%s", names[i]);
		struct stream_list *found = find(&session, name);
		const u8 *code = dlsym(libc, names[i]);
		Dl_info info;

		assert_non_null(found);
		assert_true(code && dladdr(code, &info));
		/* The library's code lies in memory as in its file. */
		assert_int_equal(found->streams.at[0]->file_offset, code - (u8 *)info.dli_fbase);
	}
	session_close(&session);
	dlclose(libc);
}

static __attribute__((noinline, used)) int local_twin(int x)
{
	return x + 1;
}

/* The name of two functions names none; that of one does which only others are called nearly. */
static void test_ambiguous(void **state)
{
	struct session session;

	session_open(&session, NULL);
	expect_error(&session, "uprobe:/proc/self/exe:local_twin", "ambiguous-stream",
		     "that calls it");
	session_close(&session);
	assert_int_equal(local_twin(1), 2);
}

/* A place in the file -> its function: where that begins, within, and at its end. */
static void test_places(void **state)
{
	struct stream_list *found;
	struct symbols *symbols;
	struct session session;
	const char *name;
	u64 begin, behind;

	session_open(&session, NULL);
	found = find(&session, "uprobe:/proc/self/exe:main");
	assert_non_null(found);
	begin = found->streams.at[0]->file_offset;
	session_close(&session);
	assert_int_equal(symbols_open("/proc/self/exe", &symbols), 0);
	for (u32 i = 0; i < 8; i++) {
		assert_string_equal(symbols_at(symbols, begin + i, &behind), "main");
		assert_int_equal(behind, i);
	}
	name = symbols_at(symbols, begin - 1, &behind);
	assert_true(!name || strcmp(name, "main") != 0);
	assert_null(symbols_at(symbols, 0, &behind));
	symbols_close(symbols);
	assert_int_equal(symbols_open("/etc/passwd", &symbols), -ENOEXEC);
}

/* What distributions leave of a stripped program's symbols: packed, in a section of its own. */
static void test_stripped(void **state)
{
	static const char script[] =
		"set -e; cd %s; cp /proc/%d/exe whole; objcopy --strip-debug whole mini; "
		"xz mini; objcopy --strip-all --add-section .gnu_debugdata=mini.xz whole packed; "
		"objcopy --strip-all whole bare";
	char folder[] = "/tmp/ebql-test-XXXXXX", command[512], self[256] = "";
	struct stream_list *found, *whole;
	struct session session;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
		snprintf(command, sizeof(command), "[ $(readlink /proc/%d/exe) = %s ]", getpid(),
			 self);
	if (system(command)) {
		print_message(
			"SKIP: an emulator runs this, and the tools are not of its machine\n");
		skip();
	}

	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command), script, folder, getpid());
	assert_int_equal(system(command), 0);
	session_open(&session, NULL);
	whole = find(&session, "uprobe:/proc/self/exe:main");
	snprintf(command, sizeof(command), "uprobe:%s/packed:main", folder);
	found = find(&session, command);
	assert_true(whole && found);
	assert_int_equal(found->streams.at[0]->file_offset, whole->streams.at[0]->file_offset);
	snprintf(command, sizeof(command), "uprobe:%s/bare:main", folder);
	expect_error(&session, command, "unknown-stream", "no function");
	session_close(&session);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* Files that say of themselves what no program can be: refused at once, whatever they would cost.
 */
static void test_hostile(void **state)
{
	static const struct {
		u64 symbols_bytes, names_bytes;
		u16 n_segments, n_tables;
	} cases[] = {
		{ 1ull << 40, 64, 1, 1 },
		{ 64, 1ull << 40, 1, 1 },
		{ 64, 64, 60000, 1 },
		{ 64, 64, 1, 60000 },
		/* Names that are all of one long text, to its end. */
		{ 24ull << 20, 64 << 20, 1, 1 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[] = "/tmp/ebql-test-XXXXXX", name[64];
		int fd = mkstemp(path);
		u32 n = cases[i].n_tables + 1;
		Elf64_Ehdr header = { .e_ident = ELFMAG,
				      .e_type = ET_DYN,
				      .e_machine = arch_own->elf_machine,
				      .e_phoff = 64,
				      .e_phnum = cases[i].n_segments,
				      .e_shoff = 1 << 22,
				      .e_shnum = (u16)n };
		Elf64_Phdr segment = { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 1 << 20 };
		Elf64_Shdr *sections = calloc(n, sizeof(*sections));
		const u64 at = 16 << 20, names_at = at + cases[i].symbols_bytes;
		Elf64_Sym symbol = { .st_info = STT_FUNC, .st_shndx = 1, .st_name = 1 };
		char *text = malloc(1 << 20);
		struct session session;

		header.e_ident[EI_CLASS] = ELFCLASS64;
		sections[0] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					    .sh_offset = names_at,
					    .sh_size = cases[i].names_bytes };
		for (u32 k = 1; k < n; k++)
			sections[k] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
						    .sh_offset = at,
						    .sh_size = cases[i].symbols_bytes };
		memset(text, 'x', 1 << 20);
		assert_int_equal(ftruncate(fd, (off_t)(names_at + cases[i].names_bytes)), 0);
		assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
		assert_int_equal(pwrite(fd, &segment, sizeof(segment), 64), sizeof(segment));
		assert_true(pwrite(fd, sections, n * sizeof(*sections), 1 << 22) > 0);
		for (u32 k = 0; i == 4 && k < 64; k++)
			assert_true(pwrite(fd, text, 1 << 20, (off_t)(names_at + (k << 20))) > 0);
		for (u32 k = 0; i == 4 && k < 1024; k++)
			assert_true(pwrite(fd, &symbol, sizeof(symbol),
					   (off_t)(at + k * sizeof(symbol))) > 0);
		snprintf(name, sizeof(name), "uprobe:%s:main", path);
		session_open(&session, NULL);
		expect_error(&session, name, "not-a-program", "readelf");
		session_close(&session);
		unlink(path);
		close(fd);
		free(text);
		free(sections);
	}
}

/* Somebody cuts the file off, and writes it anew, while it is read: it is found or not. */
static void test_cut_off(void **state)
{
	char path[] = "/tmp/ebql-test-XXXXXX", name[64];
	int fd = mkstemp(path), status;
	struct session session;
	struct buf whole;
	pid_t pid;

	assert_true(fd >= 0);
	buf_init(&whole);
	assert_int_equal(buf_read_file(&whole, "/proc/self/exe", SIZE_MAX), 0);
	snprintf(name, sizeof(name), "uprobe:%s:main", path);
	pid = fork();
	for (u32 i = 0; pid == 0; i++)
		if (ftruncate(fd, 64 + i % whole.n) ||
		    pwrite(fd, whole.at, whole.n, 0) != (ssize_t)whole.n)
			_exit(1);
	for (u32 i = 0; i < 200; i++) {
		session_open(&session, NULL);
		find(&session, name);
		session_close(&session);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	buf_free(&whole);
	close(fd);
	unlink(path);
}

/* Of the headers' tables, where a file tells what lies where. */
static size_t place_to_break(const Elf64_Ehdr *header)
{
	size_t segments = header->e_phnum * sizeof(Elf64_Phdr);
	size_t sections = header->e_shnum * sizeof(Elf64_Shdr);

	switch (random() % 3) {
	case 0: /* behind what says that it is a program */
		return 24 + (size_t)random() % (sizeof(*header) - 24);
	case 1:
		return header->e_phoff + (size_t)random() % segments;
	default:
		return header->e_shoff + (size_t)random() % sections;
	}
}

/* A file that is broken anywhere is no program, or has no such function: nothing worse. */
static void test_broken_program(void **state)
{
	char path[] = "/tmp/ebql-test-XXXXXX", name[64], library[64];
	int fd = mkstemp(path);
	struct session session;
	Elf64_Ehdr header;
	struct buf whole;
	u32 n_found = 0;

	assert_true(fd >= 0);
	buf_init(&whole);
	snprintf(library, sizeof(library), "/lib/%s/libm.so.6", arch_own->library_folder);
	assert_int_equal(buf_read_file(&whole, library, SIZE_MAX), 0);
	memcpy(&header, whole.at, sizeof(header));
	snprintf(name, sizeof(name), "uprobe:%s:cbrt", path);
	srandom(1);
	for (u32 i = 0; i < 300; i++) {
		size_t places[3];
		char saved[3];

		for (u32 k = 0; k < 3; k++) {
			places[k] = place_to_break(&header);
			saved[k] = whole.at[places[k]];
			whole.at[places[k]] = (char)random();
		}
		assert_int_equal(pwrite(fd, whole.at, whole.n, 0), whole.n);
		assert_int_equal(ftruncate(fd, i % 3 ? whole.n : 64 + random() % whole.n), 0);
		session_open(&session, NULL);
		n_found += find(&session, name) != NULL;
		session_close(&session);
		for (u32 k = 3; k-- > 0;)
			whole.at[places[k]] = saved[k];
	}
	/* Some are broken where it does not matter: so they are read to the end. */
	assert_true(n_found > 20 && n_found < 280);
	buf_free(&whole);
	close(fd);
	unlink(path);
}

/* A struct in two registers takes two words of a trampoline's context. */
static void test_words(void **state)
{
	struct stream_list *found;
	struct session session;

	session_open(&session, SNAPSHOT);
	found = find(&session, "fexit:tcp_setsockopt");
	assert_non_null(found);
	assert_int_equal(field_of(found->streams.at[0], "ret")->offset_bytes, 48);
	assert_int_equal(found->streams.at[0]->n_fields, 4); /* sk, level, optname, ret */
	session_close(&session);
}

/* A copy of a kernel's files, and one of a module's BTF beside them. */
static void write_module(const char *folder)
{
	struct btf *base = btf__parse(SNAPSHOT "/btf", NULL), *btf;
	const char *path = "/btf-modules/sample";
	int file, pointer, proto;
	char to[64];
	const void *data;
	FILE *out;
	u32 n;

	assert_non_null(base);
	btf = btf__new_empty_split(base);
	file = btf__find_by_name_kind(base, "file", BTF_KIND_STRUCT);
	assert_true(file > 0);
	file = btf__add_ptr(btf, file);
	pointer = btf__add_struct(btf, "sample", 16);
	btf__add_field(btf, "file", file, 64, 0);
	pointer = btf__add_ptr(btf, pointer);
	proto = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "sample", pointer);
	btf__add_func(btf, "sample_read", BTF_FUNC_GLOBAL, proto);
	/* The tracepoint "sampled": void *__data, struct file *. */
	pointer = btf__add_ptr(btf, 0);
	proto = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "__data", pointer);
	btf__add_func_param(btf, "of", file);
	btf__add_func(btf, "__traceiter_sampled", BTF_FUNC_GLOBAL, proto);
	btf__add_typedef(btf, "btf_trace_sampled", btf__add_ptr(btf, proto));
	data = btf__raw_data(btf, &n);
	snprintf(to, sizeof(to), "%s%s", folder, path);
	out = fopen(to, "w");
	assert_true(out && fwrite(data, 1, n, out) == n && fclose(out) == 0);
	btf__free(btf);
	btf__free(base);
}

static void test_modules(void **state)
{
	char folder[] = "/tmp/ebql-test-XXXXXX", command[512];
	struct catalog_member member;
	const struct stream *s;
	struct session session;

	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command), "cp -r " SNAPSHOT "/. %s && mkdir %s/btf-modules",
		 folder, folder);
	assert_int_equal(system(command), 0);
	write_module(folder);
	session_open(&session, folder);
	assert_non_null(find(&session, "kprobe:sample_read"));
	s = find(&session, "kprobe:sample_read")->streams.at[0];
	assert_string_equal(s->module, "sample");
	assert_string_equal(field_of(s, "sample")->declaration, "struct sample *sample");
	assert_int_equal(catalog_btf_type(session.catalog, s->fields[0].btf_type_id, &member), 0);
	assert_string_equal(catalog_struct_name(session.catalog, member.pointee_btf_id),
			    "struct sample");
	assert_int_equal(
		catalog_member(session.catalog, member.pointee_btf_id, "file", NULL, &member), 0);
	assert_int_equal(member.offset_bits, 64);
	/* The kernel's own again. */
	assert_int_equal(member.pointee_btf_id,
			 catalog_btf_id(session.catalog, BTF_KIND_STRUCT, "file"));
	assert_int_equal(catalog_btf_id(session.catalog, BTF_KIND_STRUCT, "sample"), 0);
	assert_true(catalog_any_btf_id(session.catalog, BTF_KIND_STRUCT, "sample"));
	s = find(&session, "raw_tracepoint:sampled")->streams.at[0];
	assert_string_equal(field_of(s, "of")->declaration, "struct file *of");
	s = find(&session, "kprobe:vfs_read")->streams.at[0];
	assert_null(s->module);
	expect_error(&session, "kprobe:sample_reed", "unknown-stream", "\"kprobe:sample_read\"");
	s = find(&session, "kprobe:sample_*")->streams.at[0];
	assert_string_equal(s->name, "kprobe:sample_read");
	assert_string_equal(s->module, "sample");
	assert_string_equal(field_of(s, "sample")->declaration, "struct sample *sample");
	session_close(&session);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs), cmocka_unit_test(test_broken_program),
		cmocka_unit_test(test_words),	 cmocka_unit_test(test_versions),
		cmocka_unit_test(test_wildcard), cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_within),	 cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_hostile),	 cmocka_unit_test(test_places),
		cmocka_unit_test(test_stripped), cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_modules),
	};

	return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
