/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file -> bytes in one growing window, read in order.  Not mapped: a file that is
 * truncated while it is read ends, where a mapping would raise SIGBUS.  And what is wrong with it
 * -> diagnostics that name the file and the line or batch.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/internal.h"

#define READER_BYTES (256u << 10)

int reader_open(struct reader *reader, const char *path)
{
	struct stat st;
	int error;

	*reader = (struct reader){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	if (reader->fd < 0)
		return -errno;
	if (fstat(reader->fd, &st) < 0)
		error = -errno;
	else if (S_ISDIR(st.st_mode))
		error = -EISDIR;
	else if (!S_ISREG(st.st_mode))
		error = -ESPIPE; /* it is read more than once */
	else
		error = 0;
	if (error) {
		reader_close(reader);
		return error;
	}
	reader->left_bytes = (u64)st.st_size;
	reader->inode = (u64)st.st_ino;
	return 0;
}

void reader_close(struct reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->buf);
	*reader = (struct reader){ .fd = -1 };
}

static bool reader_room(struct reader *reader, size_t n)
{
	size_t capacity = reader->capacity ? reader->capacity : READER_BYTES;
	char *grown;

	if (reader->start && reader->start + n > reader->capacity) {
		memmove(reader->buf, reader->buf + reader->start, reader_has(reader));
		reader->end -= reader->start;
		reader->start = 0;
	}
	while (capacity < reader->start + n)
		capacity *= 2;
	if (capacity == reader->capacity)
		return true;
	grown = realloc(reader->buf, capacity + 1);
	if (!grown)
		return false;
	reader->buf = grown;
	reader->capacity = capacity;
	return true;
}

int reader_need(struct reader *reader, size_t n)
{
	if (reader_has(reader) >= n || !reader->left_bytes)
		return 0;
	/* A length that a broken file claims is no reason to ask for so much memory. */
	n = (size_t)MIN((u64)n, reader_has(reader) + reader->left_bytes);
	if (!reader_room(reader, n))
		return -ENOMEM;
	while (reader_has(reader) < n) {
		size_t want =
			(size_t)MIN((u64)(reader->capacity - reader->end), reader->left_bytes);
		ssize_t got = read(reader->fd, reader->buf + reader->end, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		reader->end += (size_t)got;
		reader->left_bytes = got ? reader->left_bytes - (u64)got : 0;
		if (!got)
			break;
	}
	reader->buf[reader->end] = '\0';
	return 0;
}

void reader_skip_mark(struct reader *reader)
{
	if (reader_need(reader, 3) == 0 && reader_has(reader) >= 3 &&
	    memcmp(reader->buf + reader->start, "\xef\xbb\xbf", 3) == 0)
		reader->start += 3;
}

int file_line_end(struct file_pass *pass, size_t from, size_t *ret_end)
{
	struct reader *reader = &pass->reader;
	const char *newline = NULL;
	size_t n = from;
	int error;

	while (!newline) {
		if (n > FILE_ROW_BYTES_MAX)
			return file_complain(pass, "a row of more than %u bytes",
					     FILE_ROW_BYTES_MAX);
		error = reader_need(reader, n + 1);
		if (error)
			return file_complain_read(pass, error);
		if (reader_has(reader) <= n)
			break;
		newline = memchr(reader->buf + reader->start + n, '\n', reader_has(reader) - n);
		n = newline ? (size_t)(newline - reader->buf) - reader->start : reader_has(reader);
	}
	*ret_end = n;
	return 0;
}

/* --- What is wrong with a file --- */

struct diag *file_complain_as(struct file_pass *pass, const char *tag, const char *message)
{
	char place[40] = "";

	if (pass->place)
		snprintf(place, sizeof(place), "%s %llu: ", pass->unit,
			 (unsigned long long)pass->place);
	return diag_error(pass->diags, tag, pass->span, "%s: %s%s", pass->path, place, message);
}

int file_complain(struct file_pass *pass, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	file_complain_as(pass, "bad-file", arena_vprintf(pass->diags->arena, format, args));
	va_end(args);
	return -EINVAL;
}

int file_cut(struct file_pass *pass, u64 n)
{
	if (!pass->is_learning)
		return file_complain(pass, "the file ends in the middle");
	pass->n_cut = n;
	return -ENODATA;
}

int file_has_changed(struct file_pass *pass)
{
	return file_complain(pass, "has changed while it was read");
}

int file_complain_errno(struct file_pass *pass, const char *tag, int error)
{
	struct diag *diag = file_complain_as(pass, tag, strerror(-error));
	const char *hint = diag_machine_hint(-error);

	if (diag && hint) {
		diag->is_failure = true;
		diag_hint(pass->diags, diag, "%s", hint);
	}
	return error;
}

int file_complain_read(struct file_pass *pass, int error)
{
	return file_complain_errno(pass, "bad-file", error);
}
