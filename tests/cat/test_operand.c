/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arguments of user probes as compilers write them, of both machines on either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "cat/operand.h"

struct example {
	const char *text, *meaning; /* a meaning that begins with '-': why it cannot be read */
};

/* Of a program whose probe stands at 0x1000. */
static bool find_symbol(const struct operand_place *place, const char *name, size_t n,
			u64 *ret_address)
{
	*ret_address = 0x4123;
	return n == strlen("counter.1") && memcmp(name, "counter.1", n) == 0;
}

/* s32: of four bytes, with a sign; r80: the register there; [ ]: what memory has. */
static const char *spell(const struct user_operand *o, struct arena *arena)
{
	struct buf out;

	buf_init_in(&out, arena);
	if (o->why_not) {
		buf_printf(&out, "-%s", o->why_not);
		return out.at;
	}
	buf_printf(&out, "%c%u ", o->type.is_signed ? 's' : 'u', o->type.bits);
	buf_puts(&out, o->kind == OPERAND_MEMORY ? "[" : "");
	if (o->base != OPERAND_NO_REGISTER)
		buf_printf(&out, "r%u", o->base);
	if (o->base != OPERAND_NO_REGISTER && o->bits < 64)
		buf_printf(&out, ".%u", o->bits);
	if (o->shift)
		buf_printf(&out, ">>%u", o->shift);
	if (o->index != OPERAND_NO_REGISTER)
		buf_printf(&out, "+r%u%s<<%u", o->index,
			   o->index_bits != 32	? ""
			   : o->index_is_signed ? ".s32"
						: ".u32",
			   o->index_shift);
	if (o->value || o->base == OPERAND_NO_REGISTER)
		buf_printf(&out, "%+lld", (long long)o->value);
	buf_puts(&out, o->kind == OPERAND_MEMORY ? "]" : "");
	return out.at;
}

static void check(const struct operand_machine *machine, bool is_relocated,
		  const struct example *examples, u32 n)
{
	const struct operand_place place = { .address = 0x1000,
					     .is_relocated = is_relocated,
					     .find_symbol = find_symbol };
	struct arena arena;

	arena_init(&arena);
	for (u32 i = 0; i < n; i++) {
		/* Between others, which it leaves as they are. */
		const char *all = arena_printf(&arena, "8@1 %s 8@2", examples[i].text), *at = all;
		struct user_operand o;
		const char *got;

		assert_true(operand_next(machine, &at, &place, &arena, &o));
		assert_true(operand_next(machine, &at, &place, &arena, &o));
		got = spell(&o, &arena);
		if (strcmp(got, examples[i].meaning) != 0)
			fail_msg("%s: %s, not %s", examples[i].text, got, examples[i].meaning);
		assert_string_equal(o.text, examples[i].text);
		assert_true(operand_next(machine, &at, &place, &arena, &o));
		assert_string_equal(o.text, "8@2");
		assert_false(operand_next(machine, &at, &place, &arena, &o));
	}
	arena_free(&arena);
}

#define UNKNOWN "-" OPERAND_UNKNOWN

static void test_x86_64(void **state)
{
	static const struct example examples[] = {
		{ "8@%rax", "u64 r80" },
		{ "-8@%r15", "s64 r0" },
		{ "-4@%ebx", "s32 r40.32" },
		{ "4@%r8d", "u32 r72.32" },
		{ "-2@%bp", "s16 r32.16" },
		{ "2@%r12w", "u16 r24.16" },
		{ "1@%sil", "u8 r104.8" },
		{ "-1@%r9b", "s8 r64.8" },
		{ "1@%ch", "u8 r88.8>>8" },
		{ "8@%rsp", "u64 r152" },
		{ "%rdi", "u64 r112" },
		{ "-4@$-5", "s32 -5" },
		{ "8@$0x10", "u64 +16" },
		{ "8@$18446744073709551615", "u64 -1" },
		{ "8@(%rdi)", "u64 [r112]" },
		{ "-4@-20(%rbp)", "s32 [r32-20]" },
		{ "1@0x8(%r13)", "u8 [r16+8]" },
		{ "-4@16(%rsp,%rax,4)", "s32 [r152+r80<<2+16]" },
		{ "2@(%rdx,%rcx)", "u16 [r96+r88<<0]" },
		{ "8@8(,%r11,8)", "u64 [+r48<<3+8]" },
		{ "-4@counter.1(%rip)", "s32 [r128+12579]" },
		{ "-4@counter.1+8(%rip)", "s32 [r128+12587]" },
		{ "-4@4+counter.1(%rip)", "s32 [r128+12583]" },
		{ "8@$counter.1", "u64 r128+12579" },
		{ "8@counter.1(,%rax,8)", "u64 [r128+r80<<3+12579]" },
		{ "8@counter.1(%rax)", "-it is an address that another one is added to" },
		{ "8@other(%rip)", "-the program's symbols do not have it" },
		{ "8@counter.1@GOTPCREL(%rip)", "-its address is in a table of the loader's" },
		{ "8@%fs:16", "-it is in memory of the thread's own" },
		{ "8f@%xmm0", "-it is a number with a fraction" },
		{ "16@%xmm0", "-it is no number of 1, 2, 4 or 8 bytes" },
		{ "8@%xmm0", "-it is in a register of another kind" },
		{ "8@%raxx", "-it is in a register of another kind" },
		{ "8@8(%eax)", UNKNOWN },
		{ "8@8(%rax,%rbx,3)", UNKNOWN },
		{ "8@()", UNKNOWN },
		{ "8@(,)", UNKNOWN },
		{ "8@16(%rip)", UNKNOWN },
		{ "8@", UNKNOWN },
		{ "8@$", UNKNOWN },
		{ "8@$5x", "-the program's symbols do not have it" },
		{ "8@$99999999999999999999", UNKNOWN },
		{ "8@,", UNKNOWN },
	};
	static const struct example fixed[] = {
		{ "-4@counter.1(%rip)", "s32 [+16675]" },
		{ "-4@counter.1", "s32 [+16675]" },
		{ "8@$counter.1", "u64 +16675" },
		{ "8@counter.1(,%rax,8)", "u64 [+r80<<3+16675]" },
	};

	check(&operand_x86_64, true, examples, ARRAY_SIZE(examples));
	check(&operand_x86_64, false, fixed, ARRAY_SIZE(fixed));
}

static void test_arm64(void **state)
{
	static const struct example examples[] = {
		{ "8@x0", "u64 r0" },
		{ "-4@w19", "s32 r152.32" },
		{ "8@x30", "u64 r240" },
		{ "8@sp", "u64 r248" },
		{ "4@wzr", "u32 +0" },
		{ "-4@-5", "s32 -5" },
		{ "8@#16", "u64 +16" },
		{ "1@[x0]", "u8 [r0]" },
		{ "-4@[sp, 60]", "s32 [r248+60]" },
		{ "-4@[sp,#-60]", "s32 [r248-60]" },
		{ "8@[x0, x1]", "u64 [r0+r8<<0]" },
		{ "8@[x0, x1, lsl 3]", "u64 [r0+r8<<3]" },
		{ "8@[x0, x1, lsl #3]", "u64 [r0+r8<<3]" },
		{ "4@[x2, w3, sxtw 2]", "u32 [r16+r24.s32<<2]" },
		{ "4@[x2, w3, uxtw #2]", "u32 [r16+r24.u32<<2]" },
		{ "4@[x2, w3, uxtw]", "u32 [r16+r24.u32<<0]" },
		{ "-4@[x0, #:lo12:counter.1]", "s32 [r0+291]" },
		{ "-4@[x0, :lo12:counter.1+4]", "s32 [r0+295]" },
		{ "-4@[x0, :lo12:other]", "-the program's symbols do not have it" },
		{ "8@d0", "-it is in a register of another kind" },
		{ "8@[w0]", UNKNOWN },
		{ "8@[x0, w1]", UNKNOWN },
		{ "8@[x0, x1, sxtw 2]", UNKNOWN },
		{ "8@[x0, x1, lsl 9]", UNKNOWN },
		{ "8@[x0, 8]!", UNKNOWN },
		{ "8@[x0, 8, 9]", UNKNOWN },
		{ "8@[]", UNKNOWN },
		{ "8@x31", UNKNOWN },
		{ "8@y", UNKNOWN },
		{ "8@", UNKNOWN },
	};

	check(&operand_arm64, true, examples, ARRAY_SIZE(examples));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_arm64),
	};

	return cmocka_run_group_tests_name("operand", tests, NULL, NULL);
}
