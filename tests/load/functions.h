/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Of test_load, where the kernel has probes of functions, and links of many (multi). */
#ifndef TESTS_LOAD_FUNCTIONS_H
#define TESTS_LOAD_FUNCTIONS_H

void test_left_out(void **state);
void test_all_left_out(void **state);
void test_left_out_multi(void **state);

#endif
