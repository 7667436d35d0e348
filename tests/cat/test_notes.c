/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Notes of probes in files that say of themselves what no program does: what can be read is read in
 * a time that grows as the file does, and the rest is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "look.h"

/* A file of so many probes, each of so many arguments that are variables of it. */
struct program {
	u32 n_notes, n_arguments, n_symbols;
	bool is_one;		  /* they are all one, at many places */
	u32 name_bytes;		  /* of each symbol, 0: "s" and its number */
	u32 event_bytes, padding; /* of the first probe's name, and of its arguments */
};

static void put_note(struct buf *notes, const struct program *p, u32 i)
{
	u64 words[3] = { 0x1000 + i, 0, 0 };
	struct buf text;
	Elf64_Nhdr header = { .n_namesz = 8, .n_type = 3 };

	buf_init(&text);
	buf_put(&text, (char *)words, sizeof(words));
	buf_printf(&text, "test%cp%u", 0, p->is_one ? 0 : i);
	for (u32 k = 0; !i && k < p->event_bytes; k++)
		buf_puts(&text, "x");
	buf_put(&text, "", 1);
	for (u32 k = 0; k < p->n_arguments; k++)
		buf_printf(&text, "%s-4@s%u(%%rip)", k ? " " : "", (i + k) % MAX(p->n_symbols, 1u));
	for (u32 k = 0; !i && k < p->padding; k++)
		buf_puts(&text, "(");
	buf_put(&text, "\0\0\0\0", 1);
	header.n_descsz = (u32)text.n;
	buf_put(notes, (char *)&header, sizeof(header));
	buf_put(notes, "stapsdt", 8);
	buf_put(notes, text.at, text.n);
	buf_put(notes, "\0\0\0", ALIGN_UP(text.n, 4) - text.n);
	buf_free(&text);
}

static void put_symbols(struct buf *symbols, struct buf *names, const struct program *p)
{
	buf_put(names, "", 1);
	for (u32 k = 0; k < p->name_bytes; k++)
		buf_puts(names, "n");
	for (u32 i = 0; i < p->n_symbols; i++) {
		Elf64_Sym symbol = { .st_info = STT_OBJECT, .st_shndx = 1, .st_name = 1 };

		symbol.st_value = 0x9000 + 8 * (u64)i;
		if (!p->name_bytes)
			symbol.st_name = (u32)names->n;
		buf_put(symbols, (char *)&symbol, sizeof(symbol));
		if (!p->name_bytes)
			buf_printf(names, "s%u%c", i, 0);
	}
	buf_put(names, "", 1);
}

/* Sections: none, symbols, their names, notes, the sections' names. */
static void write_program(int fd, const struct program *p)
{
	static const char section_names[] = "\0.note.stapsdt";
	struct buf parts[4], *symbols = &parts[0], *names = &parts[1], *notes = &parts[2];
	Elf64_Shdr sections[5] = { { 0 } };
	Elf64_Phdr segment = {
		.p_type = PT_LOAD, .p_flags = PF_X | PF_W, .p_vaddr = 0x1000, .p_filesz = 1 << 20
	};
	Elf64_Ehdr header = { .e_ident = ELFMAG,
			      .e_type = ET_DYN,
			      .e_machine = arch_own->elf_machine,
			      .e_phoff = sizeof(header),
			      .e_phnum = 1,
			      .e_shnum = ARRAY_SIZE(sections),
			      .e_shstrndx = 4 };
	u64 at = sizeof(header) + sizeof(segment);

	for (u32 i = 0; i < ARRAY_SIZE(parts); i++)
		buf_init(&parts[i]);
	put_symbols(symbols, names, p);
	for (u32 i = 0; i < p->n_notes; i++)
		put_note(notes, p, i);
	buf_put(&parts[3], section_names, sizeof(section_names));
	for (u32 i = 0; i < ARRAY_SIZE(parts); i++) {
		assert_int_equal(pwrite(fd, parts[i].at, parts[i].n, (off_t)at), parts[i].n);
		sections[i + 1].sh_offset = at;
		sections[i + 1].sh_size = parts[i].n;
		at += parts[i].n;
		buf_free(&parts[i]);
	}
	sections[1].sh_type = SHT_SYMTAB;
	sections[1].sh_link = 2;
	sections[3].sh_name = 1;
	sections[3].sh_type = SHT_NOTE;
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_shoff = at;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, &segment, sizeof(segment), sizeof(header)), sizeof(segment));
	assert_int_equal(pwrite(fd, sections, sizeof(sections), (off_t)at), sizeof(sections));
}

/* Looks the probes up; tag NULL: there are so many, and all their arguments can be read. */
static void expect(const struct program *p, const char *event, const char *tag, u32 n)
{
	char path[] = "/tmp/ebql-test-XXXXXX", name[64];
	int fd = mkstemp(path);
	struct stream_list *found;
	struct session session;

	assert_true(fd >= 0);
	write_program(fd, p);
	snprintf(name, sizeof(name), "usdt:%s:%s", path, event);
	session_open(&session, NULL);
	if (tag) {
		expect_error(&session, name, tag,
			     strcmp(tag, "not-a-program") ? "list" : "readelf");
	} else {
		found = find(&session, name);
		assert_non_null(found);
		assert_int_equal(found->streams.n, n);
		for (u32 i = 0; i < n; i++) {
			const struct stream *s = found->streams.at[i];

			assert_int_equal(s->n_fields, p->n_arguments);
			for (u32 k = 0; k < s->n_fields; k++)
				assert_null(s->fields[k].operand->why_not);
		}
	}
	if (n > 10000)
		assert_non_null(strstr(session.diags.list.at[0].message, "20000"));
	session_close(&session);
	close(fd);
	unlink(path);
}

/* In less than a second; what looks all symbols up for each argument takes hours. */
static void test_large(void **state)
{
	struct timespec begin, end;

	if (arch_own->elf_machine != EM_X86_64) {
		print_message("SKIP: its arguments are written as on x86-64\n");
		skip();
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	expect(&(struct program){ .n_notes = 10000, .n_arguments = 12, .n_symbols = 200000 },
	       "test:p*", NULL, 10000);
	expect(&(struct program){ .n_notes = 10000, .n_arguments = 12, .n_symbols = 200000 },
	       "test:p77", NULL, 1);
	expect(
		&(struct program){
			.n_notes = 10000, .n_arguments = 1, .n_symbols = 2, .is_one = true },
		"p0", NULL, 10000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_in_range(end.tv_sec - begin.tv_sec, 0, 9);
}

static void test_refused(void **state)
{
	expect(&(struct program){ .n_notes = 20000 }, "test:*", "too-many-places", 20000);
	expect(&(struct program){ .n_notes = 20000, .is_one = true }, "test:p0", "too-many-places",
	       20000);
	expect(&(struct program){ .n_notes = 70000 }, "test:p1", "not-a-program", 0);
	expect(&(struct program){ .n_notes = 20000, .n_arguments = 16, .n_symbols = 9 }, "test:p*",
	       "not-a-program", 0);
	expect(&(struct program){ .n_notes = 2, .event_bytes = 4096 }, "test:p1", "not-a-program",
	       0);
	expect(&(struct program){ .n_notes = 2, .padding = 1 << 20 }, "test:p0", "not-a-program",
	       0);
	/* The symbols that the arguments are, of which only a part could be looked at. */
	expect(
		&(struct program){
			.n_notes = 2, .n_arguments = 1, .n_symbols = 2000, .name_bytes = 1 << 20 },
		"test:p0", "not-a-program", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
