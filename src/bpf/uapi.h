/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Instruction set constants newer than the linux/bpf.h of Debian 12 (6.1), and
 * the limits of the instruction format.  Values are kernel ABI
 * (Documentation/bpf/standardization/instruction-set.rst).
 */
#ifndef EBQL_BPF_UAPI_H
#define EBQL_BPF_UAPI_H

#include <linux/bpf.h>

#ifndef BPF_MEMSX
#define BPF_MEMSX 0x80 /* mode of LDX: sign-extending load, kernel 6.6 */
#endif
#ifndef BPF_PSEUDO_KFUNC_CALL
#define BPF_PSEUDO_KFUNC_CALL 2 /* kernel 5.13 */
#endif

#define BPF_STACK_BYTES 512 /* MAX_BPF_STACK of include/linux/filter.h */
#define BPF_FRAME	10  /* r10, the read-only frame pointer */
#define BPF_N_REGS	10  /* r0..r9 can be allocated */
#define BPF_MAX_ARGS	5   /* r1..r5 */

#endif
