/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A refusal of the kernel -> which capability this process lacks.  Also the two
 * resource limits that loading can run into.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "load/internal.h"

/* What of CAP_BPF and CAP_PERFMON (5.8; CAP_SYS_ADMIN includes both) is missing; "" if nothing. */
static const char *missing_capabilities(void)
{
	bool has_bpf = sys_has_capability(CAP_BPF), has_perfmon = sys_has_capability(CAP_PERFMON);

	if (sys_has_capability(CAP_SYS_ADMIN))
		return "";
	if (sys_kernel_version() < KERNEL_VERSION(5, 8, 0))
		return "CAP_SYS_ADMIN";
	if (has_bpf && has_perfmon)
		return "";
	if (has_bpf)
		return "CAP_PERFMON";
	return has_perfmon ? "CAP_BPF" : "CAP_BPF and CAP_PERFMON";
}

/* Under "integrity" all that ebql does is permitted. */
static bool is_locked_down(void)
{
	struct buf text;
	bool is_locked;

	buf_init(&text);
	if (!buf_read_file(&text, "/sys/kernel/security/lockdown", 256))
		is_locked = strstr(text.at, "[confidentiality]") != NULL;
	else
		is_locked = !buf_read_file(&text, "/proc/cmdline", 65536) &&
			    strstr(text.at, "lockdown=confidentiality") != NULL;
	buf_free(&text);
	return is_locked;
}

void load_locked_down(struct span span, const char *doing, struct diags *diags)
{
	diag_failure_at(diags, "locked-down", span,
			"the kernel is locked down (confidentiality) and does not permit to %s" HINT
			"tracepoints, trampolines (SET access_path = fentry) and functions of "
			"programs can be read still, but no memory behind pointers; boot "
			"without lockdown=confidentiality",
			doing);
}

bool load_refused(int error, const char *doing, struct diags *diags)
{
	const char *missing = missing_capabilities(), *hint = diag_machine_hint(error);
	struct diag *diag;

	if (hint) {
		diag = diag_failure(diags, "limit-reached", "cannot %s: %s", doing,
				    strerror(error));
		diag_hint(diags, diag, "%s", hint);
		return true;
	}
	/*
	 * Without CAP_PERFMON the verifier refuses pointers and helpers as it would refuse
	 * a wrong program, with EACCES or EINVAL; the missing capability is the cause.
	 */
	if (error != EPERM && error != EACCES && !(error == EINVAL && missing[0]))
		return false;
	if (missing[0]) {
		diag = diag_failure(diags, "no-privilege", "to %s needs %s", doing, missing);
		diag_hint(diags, diag,
			  "run as root, or give the binary what it needs: " SYS_SETCAP
			  "$(command -v ebql)");
		return true;
	}
	if (error != EPERM)
		return false;
	if (is_locked_down()) {
		load_locked_down(SPAN_NONE, doing, diags);
		return true;
	}
	diag = diag_failure(
		diags, "no-privilege",
		"the kernel does not permit to %s, although this process has CAP_BPF and "
		"CAP_PERFMON",
		doing);
	/* Before that, maps are charged to the process. */
	if (sys_kernel_version() < KERNEL_VERSION(5, 11, 0)) {
		diag_hint(diags, diag, "raise RLIMIT_MEMLOCK (ulimit -l)");
		return true;
	}
	diag_hint(diags, diag,
		  "look at /sys/kernel/security/lockdown, the container's seccomp filter, and "
		  "whether root here is root of a user namespace only");
	return true;
}

bool load_is_of_place(int error)
{
	return error != EPERM && error != EACCES && error != ENODEV && error != EMFILE &&
	       error != ENFILE && error != ENOMEM && error != EINTR;
}

/* As high as wanted, or as high as it goes; what fails shows at the map or descriptor itself. */
static void raise_limit(int resource, rlim_t wanted)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur >= wanted)
		return;
	if (limit.rlim_max < wanted) {
		struct rlimit higher = { .rlim_cur = wanted, .rlim_max = wanted };

		if (setrlimit(resource, &higher) == 0)
			return;
		wanted = limit.rlim_max;
	}
	limit.rlim_cur = wanted;
	setrlimit(resource, &limit);
}

void load_raise_limits(const struct phys_set *set)
{
	/* Since 5.11 maps are charged to the memory cgroup instead. */
	if (sys_kernel_version() < KERNEL_VERSION(5, 11, 0))
		raise_limit(RLIMIT_MEMLOCK, RLIM_INFINITY);
	/* The rest of the process (libraries, outputs, tracefs files) is well below 128. */
	u64 n_events = 0; /* and their links */

	for (u32 i = 0; set && i < set->n_hooks; i++)
		n_events += set->hooks[i].path == ACCESS_SAMPLE ? load_possible_cpus()
								: set->hooks[i].n_places;
	if (set)
		raise_limit(RLIMIT_NOFILE, 3 * set->n_hooks + 2 * n_events + LOAD_MAP_SHARED_N +
						   LOAD_MAP_N * set->n_parts + 128);
}
