/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The fuzz target of the back end, also called by test_random.c.
 */
#ifndef EBQL_TESTS_BPF_FUZZ_BPF_H
#define EBQL_TESTS_BPF_FUZZ_BPF_H

#include "env.h"

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t n);

#endif
