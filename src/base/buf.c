/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A growing run of bytes: text, numbers and JSON strings in, one write(2) out.
 * Its room only ever grows, so a writer that resets it stops allocating.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/utf8.h"

#define BUF_MIN_BYTES 256

static char buf_empty[1];

void buf_init(struct buf *buf)
{
	*buf = (struct buf){ .at = buf_empty };
}

void buf_init_in(struct buf *buf, struct arena *arena)
{
	*buf = (struct buf){ .at = buf_empty, .arena = arena };
}

void buf_free(struct buf *buf)
{
	if (buf->capacity && !buf->arena)
		free(buf->at);
	buf_init(buf);
}

void buf_reset(struct buf *buf)
{
	buf->n = 0;
	buf->is_cut = false;
	if (buf->capacity)
		buf->at[0] = '\0';
}

/* Room for n more bytes and the NUL; NULL: there is none, or was none before. */
static char *buf_room(struct buf *buf, size_t n)
{
	size_t capacity = buf->capacity ? buf->capacity : BUF_MIN_BYTES;
	char *grown;

	buf->is_cut |= n >= SIZE_MAX / 4 || buf->n >= SIZE_MAX / 4;
	while (!buf->is_cut && capacity < buf->n + n + 1)
		capacity *= 2;
	if (!buf->is_cut && capacity != buf->capacity) {
		if (buf->arena)
			grown = arena_grow(buf->arena, buf->at, buf->n + 1, capacity);
		else
			grown = realloc(buf->capacity ? buf->at : NULL, capacity);
		buf->is_cut = !grown;
		if (grown) {
			buf->at = grown;
			buf->capacity = capacity;
		}
	}
	return buf->is_cut ? NULL : buf->at + buf->n;
}

static void buf_advance(struct buf *buf, size_t n)
{
	buf->n += n;
	buf->at[buf->n] = '\0';
}

void buf_put(struct buf *buf, const void *bytes, size_t n)
{
	char *at = buf_room(buf, n);

	if (!at)
		return;
	if (n)
		memcpy(at, bytes, n);
	buf_advance(buf, n);
}

void buf_puts(struct buf *buf, const char *text)
{
	buf_put(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char c)
{
	char *at = buf_room(buf, 1);

	if (!at)
		return;
	*at = c;
	buf_advance(buf, 1);
}

void buf_fill(struct buf *buf, char c, size_t n)
{
	char *at = buf_room(buf, n);

	if (!at)
		return;
	memset(at, c, n);
	buf_advance(buf, n);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	size_t room = buf->capacity ? buf->capacity - buf->n : 0;
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(room ? buf->at + buf->n : NULL, room, format, again);
	va_end(again);
	BUG_ON(n < 0);
	if ((size_t)n >= room || buf->is_cut) {
		char *at = buf_room(buf, (size_t)n);

		/* What was written into the room that there was goes again. */
		if (!at && room)
			buf->at[buf->n] = '\0';
		if (!at)
			return;
		vsnprintf(at, (size_t)n + 1, format, args);
	}
	buf_advance(buf, (size_t)n);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vprintf(buf, format, args);
	va_end(args);
}

void buf_put_u64(struct buf *buf, u64 value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	buf_put(buf, digits + at, sizeof(digits) - at);
}

void buf_put_s128(struct buf *buf, s128 value)
{
	u128 rest = value < 0 ? -(u128)value : (u128)value;
	char digits[39];
	size_t at = sizeof(digits);

	if (value < 0)
		buf_putc(buf, '-');
	if (rest <= UINT64_MAX) {
		buf_put_u64(buf, (u64)rest);
		return;
	}
	do {
		digits[--at] = (char)('0' + (int)(rest % 10));
		rest /= 10;
	} while (rest);
	buf_put(buf, digits + at, sizeof(digits) - at);
}

void buf_put_quoted(struct buf *buf, char quote, const char *text, size_t n)
{
	buf_putc(buf, quote);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == quote)
			buf_putc(buf, quote);
		buf_putc(buf, text[i]);
	}
	buf_putc(buf, quote);
}

static void put_json_control(struct buf *buf, u32 codepoint)
{
	static const char letters[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
	};

	if (codepoint < 32 && letters[codepoint]) {
		buf_putc(buf, '\\');
		buf_putc(buf, letters[codepoint]);
	} else {
		buf_printf(buf, "\\u%04x", codepoint);
	}
}

static void put_json(struct buf *buf, const char *text, size_t n, bool is_exact)
{
	size_t from = 0, at = 0, length;

	buf_putc(buf, '"');
	for (; at < n; at += MAX(length, (size_t)1)) {
		u8 c = (u8)text[at];
		bool is_control = c < ' ' || c == 0x7f;

		length = utf8_length(text + at, n - at);
		if (c == 0xc2 && length)
			is_control = (u8)text[at + 1] < 0xa0;
		if (length && !is_control && c != '"' && c != '\\')
			continue;
		/* What is plain goes in one piece. */
		buf_put(buf, text + from, at - from);
		from = at + MAX(length, (size_t)1);
		if (!length && is_exact)
			buf_printf(buf, "\\udc%02x", c);
		else if (!length)
			buf_puts(buf, "\xEF\xBF\xBD");
		else if (is_control)
			put_json_control(buf, length == 1 ? c : (u8)text[at + 1]);
		else
			buf_printf(buf, "\\%c", c);
	}
	buf_put(buf, text + from, at - from);
	buf_putc(buf, '"');
}

void buf_put_json_string(struct buf *buf, const char *text, size_t n)
{
	put_json(buf, text, n, false);
}

void buf_put_json_exact(struct buf *buf, const char *text, size_t n)
{
	put_json(buf, text, n, true);
}

int buf_read(struct buf *buf, int fd, size_t most)
{
	char chunk[16384];
	size_t start = buf->n;
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk)))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if ((size_t)n > most - (buf->n - start))
			return -EFBIG;
		buf_put(buf, chunk, (size_t)n);
		if (buf->is_cut)
			return -ENOMEM;
	}
	return 0;
}

int buf_read_file(struct buf *buf, const char *path, size_t most)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = buf_read(buf, fd, most);
	close(fd);
	return error;
}

int buf_flush(struct buf *buf, int fd, const struct cancel *cancel)
{
	size_t done = 0;
	int err = buf->is_cut ? -ENOMEM : 0;

	while (done < buf->n && !err) {
		ssize_t n = write(fd, buf->at + done, buf->n - done);

		if (n >= 0) {
			done += (size_t)n;
		} else if (errno == EAGAIN) {
			struct pollfd ready = { .fd = fd, .events = POLLOUT };

			/* A descriptor shared with a non-blocking owner: wait for room. */
			int n_ready = poll(&ready, 1, cancel ? CANCEL_POLL_MS : -1);

			err = n_ready > 0 ? 0 : n_ready < 0 ? -errno : -EINTR;
		} else {
			err = -errno;
		}
		if (err == -EINTR)
			err = cancel_is_due(cancel) ? -ETIMEDOUT : 0;
	}
	buf_reset(buf);
	return err;
}
