/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Any bytes are rows or end in a diagnostic, as a file of each kind (the first byte says
 * which); the second walk gives what the first did.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "file/file.h"

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t n);

static u64 walk(const struct file *file, struct diags *diags, struct arena *arena)
{
	struct value *row = arena_array(arena, struct value, file->schema.n_columns);
	struct file_rows *rows = file_rows_open(file, diags);
	u64 sum = 0;

	while (rows && file_rows_next(rows, row) == 1) {
		for (u32 i = 0; i < file->schema.n_columns; i++) {
			sum = 31 * sum + row[i].kind;
			for (u32 k = 0; row[i].kind == VALUE_TEXT && k < row[i].n; k++)
				sum = 31 * sum + (u8)row[i].text[k];
			if (row[i].kind == VALUE_INT)
				sum = 31 * sum + (u64)row[i].integer;
		}
	}
	file_rows_close(rows);
	return sum;
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t n)
{
	static const char *const suffixes[] = { "arrows", "jsonl", "csv" };
	struct arena arena;
	struct diags diags;
	struct file *file;
	char path[64];
	int fd;

	if (!n)
		return 0;
	snprintf(path, sizeof(path), "/dev/shm/fuzz_file.%d.%s", (int)getpid(),
		 suffixes[bytes[0] % 3]);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, bytes + 1, n - 1) != (ssize_t)n - 1)
		BUG("cannot write %s", path);
	close(fd);
	arena_init(&arena);
	diags_init(&diags, &arena, "query", "", 0);
	file = file_open(path, &arena, (struct span){ 0 }, &diags);
	BUG_ON(!file != diags_failed(&diags));
	if (file)
		BUG_ON(walk(file, &diags, &arena) != walk(file, &diags, &arena));
	arena_free(&arena);
	unlink(path);
	return 0;
}
