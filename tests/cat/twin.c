/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A function of its own that is called as one of test_functions.c, and neither is exported. */
static __attribute__((noinline, used)) int local_twin(int x)
{
	return x + 2;
}
