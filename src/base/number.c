/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Real numbers and bytes -> text that reads back as the same, and real numbers out of text: with a
 * decimal point, whatever locale a program around us has set.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/real.h"

void buf_put_hex_bytes(struct buf *buf, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_putc(buf, "0123456789abcdef"[(u8)bytes[i] >> 4]);
		buf_putc(buf, "0123456789abcdef"[(u8)bytes[i] & 15]);
	}
}

/* glibc has it already: nothing is allocated. */
static locale_t plain_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", NULL);
}

double base_real(const char *text, char **ret_end)
{
	return strtod_l(text, ret_end, plain_locale());
}

/* Powers of ten that a long double of 64 mantissa bits holds exactly. */
static const long double powers_of_ten[] = {
	1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,	 1e7L,	1e8L,  1e9L,  1e10L,
	1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
};

/*
 * 0.001 <= value < 1e15 as `digits` significant digits, without an exponent and
 * without trailing zeros.  The last digit may be off by one where the product is
 * rounded, so the caller reads the text back.
 */
static void fixed_digits(double value, int digits, char *ret_text)
{
	int whole = 0, decimals;
	char *at, reversed[24];
	u64 scaled;

	while (whole < 15 && value >= powers_of_ten[whole])
		whole++;
	decimals = digits - whole;
	scaled = (u64)(value * powers_of_ten[decimals] + 0.5L);
	while (decimals > 0 && scaled % 10 == 0)
		scaled /= 10, decimals--;
	at = reversed;
	for (int i = 0; i < decimals; i++, scaled /= 10)
		*at++ = (char)('0' + scaled % 10);
	if (decimals > 0)
		*at++ = '.';
	do {
		*at++ = (char)('0' + scaled % 10);
		scaled /= 10;
	} while (scaled > 0);
	while (at > reversed)
		*ret_text++ = *--at;
	*ret_text = '\0';
}

void buf_put_real(struct buf *buf, double value)
{
	bool is_plain = value >= 1e-3 && value < 1e15;
	locale_t before;
	char text[40];

	if (!isfinite(value)) {
		buf_puts(buf, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	/* Most averages of few events; exact, and much cheaper than the trials below. */
	if (fabs(value) < 1e15 && value == (double)(s64)value) {
		if (signbit(value))
			buf_putc(buf, '-');
		buf_put_u64(buf, (u64)fabs(value));
		buf_put(buf, ".0", 2);
		return;
	}
	/* printf rounds rightly but slowly: only where the quick digits do not read back. */
	for (int digits = is_plain ? 15 : 18; digits <= 17; digits++) {
		fixed_digits(value, digits, text);
		if (base_real(text, NULL) == value) {
			buf_puts(buf, text);
			return;
		}
	}
	before = uselocale(plain_locale());
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (base_real(text, NULL) == value)
			break;
	}
	uselocale(before);
	buf_puts(buf, text);
	if (!strpbrk(text, ".e"))
		buf_puts(buf, ".0");
}
