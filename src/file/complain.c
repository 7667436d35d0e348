/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is wrong with a file: diagnostics that name it and the line or row that a pass is at.
 */
#include "file/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

int file_has_changed(struct file_pass *pass)
{
	return file_complain(pass, "has changed while it was read");
}

int file_complain_read(struct file_pass *pass, int error)
{
	file_complain_as(pass, "bad-file", strerror(-error));
	return error;
}
