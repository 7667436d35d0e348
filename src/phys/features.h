/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the running kernel can do, as plans depend on it; part of phys.h. */
#ifndef EBQL_PHYS_FEATURES_H
#define EBQL_PHYS_FEATURES_H

#include "base/base.h"

/* What the kernel can do; load/ probes it once per start, tests set it. */
struct kernel_features {
	u32 version; /* KERNEL_VERSION(a, b, c) */
	bool has_btf;
	bool has_raw_recursion_guard; /* 6.1: commit 05b24ff9b2cf */
	bool has_large_array_value;   /* array map values over 4 MiB */
	bool has_signed_division;     /* 6.6 */
	/* Asked for functions only; NULL: the kernel is not here.  Why there can be no trampoline
	 * at the entry (return) of the function, or NULL; and what CONFIG_PREEMPT=y has, or chose.
	 * A function of a module is of that one's BTF, whose number the kernel tells, or why not.
	 */
	const char *(*why_no_trampoline)(u32 btf, u32 function_btf_id, bool is_return);
	const char *(*why_no_module)(const char *module, u32 *ret_btf);
	bool (*preempts_fully)(void);
	bool (*has_kprobe_multi)(void); /* one link for many functions; 5.18 with CONFIG_FPROBE */
	/* Does the kernel load at any address, by this function (bpf_rdonly_cast()) and as this
	 * struct? 0 for what is not there.  NULL: the kernel is not here. */
	bool (*has_typed_loads)(u32 function_btf_id, u32 struct_btf_id);
	/* The same for places of a program, of all processes or of one; 6.6, or its late 6.6.33. */
	bool (*has_uprobe_multi)(bool is_of_process);
};

/*
 * Loads at any address: bpf_rdonly_cast() to a struct whose first member is a long.  0: none,
 * helpers read.
 */
struct typed_load {
	u32 cast_btf_id, long_btf_id;
};

#endif
