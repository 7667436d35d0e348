/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Buffer: a growing run of bytes, always followed by a NUL.  Reused
 * by buf_reset() without giving memory back, so steady writers stop allocating.
 * Where there is no memory, what is put is left away, and is_cut says so at the end.
 */
#ifndef EBQL_BASE_BUF_H
#define EBQL_BASE_BUF_H

#include <stdarg.h>

#include "base/arena.h"
#include "base/cancel.h"

struct buf {
	char *at;
	size_t n, capacity;
	struct arena *arena; /* that it lies in; NULL: the heap */
	bool is_cut;	     /* since the last buf_reset() something was left away */
};

void buf_init(struct buf *buf);
/* In an arena: its bytes stay as long as that, and buf_free() is not needed. */
void buf_init_in(struct buf *buf, struct arena *arena);
void buf_free(struct buf *buf);
void buf_reset(struct buf *buf);
void buf_put(struct buf *buf, const void *bytes, size_t n);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_fill(struct buf *buf, char c, size_t n);
void buf_printf(struct buf *buf, const char *format, ...) PRINTF(2, 3);
void buf_vprintf(struct buf *buf, const char *format, va_list args) PRINTF(2, 0);
/* Decimal, without printf: the fast way for rows. */
void buf_put_u64(struct buf *buf, u64 value);
void buf_put_s128(struct buf *buf, s128 value);
/* Between quotes; those within are doubled. */
void buf_put_quoted(struct buf *buf, char quote, const char *text, size_t n);
/* Lower-case hex digits, two a byte. */
void buf_put_hex_bytes(struct buf *buf, const char *bytes, size_t n);
/* Shortest text that reads back as the same double; "3.0", never "3"; nan, inf, -inf. */
void buf_put_real(struct buf *buf, double value);
/*
 * "..." with JSON escapes, and DEL and the C1 controls escaped too: a terminal would obey U+009B
 * as it obeys ESC [.  Bytes that are no UTF-8 become U+FFFD, or (exact) \udcXX, from which they
 * can be had back.
 */
void buf_put_json_string(struct buf *buf, const char *text, size_t n);
void buf_put_json_exact(struct buf *buf, const char *text, size_t n);
/* Appends what fd has, but not more than most bytes; 0, -EFBIG, or -errno of read(2). */
int buf_read(struct buf *buf, int fd, size_t most);
/* The same of a file. */
int buf_read_file(struct buf *buf, const char *path, size_t most);
/*
 * Writes everything to fd; 0 or -errno (-EPIPE; -ENOMEM: cut; -ETIMEDOUT: a signal, or of a
 * descriptor that does not block the time, found it waiting for room when `cancel` was due).  The
 * buffer is then empty.
 */
int buf_flush(struct buf *buf, int fd, const struct cancel *cancel);

#endif
