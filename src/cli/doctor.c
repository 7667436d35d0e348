/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql doctor: asks kernel and privileges for each thing a query may need, by trying
 * it.  A line is "ok", "no" (needed and missing, with how to mend it) or "-" (missing
 * but not needed).
 */
#include "cli/cli.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cat/cat.h"
#include "cli/doctor.h"

/* The first line of a small file, behind what it is; NULL and `otherwise` when unreadable. */
static const char *put_value(struct buf *detail, const char *what, const char *path,
			     const char *otherwise)
{
	size_t start = strlen(what);

	buf_puts(detail, what);
	if (buf_read_file(detail, path, 4096)) {
		buf_reset(detail);
		buf_puts(detail, otherwise);
		return NULL;
	}
	detail->n = start + strcspn(detail->at + start, "\n");
	detail->at[detail->n] = '\0';
	return detail->at + start;
}

static bool probe_kernel(u32 argument, struct buf *detail)
{
	u32 major = 0, minor = 0;
	struct utsname name;

	if (uname(&name))
		return false;
	buf_printf(detail, "%s %s", name.release, name.machine);
	if (sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 5 || (major == 5 && minor >= 8);
}

static bool probe_btf(u32 argument, struct buf *detail)
{
	buf_puts(detail, "/sys/kernel/btf/vmlinux");
	return !access("/sys/kernel/btf/vmlinux", R_OK);
}

static bool probe_tracefs(u32 argument, struct buf *detail)
{
	if (!doctor_tracepoint_id(detail))
		return false;
	buf_puts(detail, "formats are readable");
	return true;
}

static bool has_capability(u32 capability)
{
	char line[256];
	bool has = false;
	FILE *status = fopen("/proc/self/status", "re");

	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "CapEff:", 7))
			has = strtoull(line + 7, NULL, 16) >> capability & 1;
	}
	if (status)
		fclose(status);
	return has;
}

/* CAP_SYS_ADMIN holds all that CAP_BPF and CAP_PERFMON were split from (kernel 5.8). */
static bool probe_capability(u32 argument, struct buf *detail)
{
	if (has_capability(argument)) {
		buf_puts(detail, "effective");
		return true;
	}
	if (argument != CAP_SYS_ADMIN && has_capability(CAP_SYS_ADMIN)) {
		buf_puts(detail, "not effective, but CAP_SYS_ADMIN is");
		return true;
	}
	buf_puts(detail, "not effective");
	return false;
}

static bool probe_jit(u32 argument, struct buf *detail)
{
	const char *value =
		put_value(detail, "net.core.bpf_jit_enable = ", "/proc/sys/net/core/bpf_jit_enable",
			  "unknown (net.core.bpf_jit_enable cannot be read)");

	return value && value[0] != '0';
}

static bool probe_unprivileged(u32 argument, struct buf *detail)
{
	const char *value = put_value(detail, "kernel.unprivileged_bpf_disabled = ",
				      "/proc/sys/kernel/unprivileged_bpf_disabled", "unknown");

	if (value && value[0] != '0')
		buf_puts(detail, ": programs need CAP_BPF");
	return true;
}

/* Tracepoints through perf_event_open() need CAP_PERFMON unless paranoid is -1. */
static bool probe_paranoid(u32 argument, struct buf *detail)
{
	const char *value = put_value(
		detail, "kernel.perf_event_paranoid = ", "/proc/sys/kernel/perf_event_paranoid",
		"the kernel has no perf events");

	return value &&
	       (atoi(value) < 0 || has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN));
}

static bool probe_lockdown(u32 argument, struct buf *detail)
{
	const char *value =
		put_value(detail, "", "/sys/kernel/security/lockdown",
			  "none (no lockdown in this kernel, or securityfs not mounted)");

	return !value || !strstr(value, "[confidentiality]");
}

#define MEND_CAPABILITY "run as root, or: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep ebql"

static const struct check system_checks[] = {
	{ "kernel 5.8 or later", "ring buffers and CAP_BPF came with 5.8: boot a newer kernel",
	  true, .probe = probe_kernel },
	{ "kernel types (BTF)",
	  "a kernel with CONFIG_DEBUG_INFO_BTF=y; without it raw tracepoints have arg0..arg11",
	  false, .probe = probe_btf },
	{ "tracefs",
	  "as root: mount -t tracefs tracefs /sys/kernel/tracing; as another user: "
	  "mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing",
	  true, .probe = probe_tracefs },
	{ "CAP_BPF", MEND_CAPABILITY, true, CAP_BPF, .probe = probe_capability },
	{ "CAP_PERFMON", MEND_CAPABILITY, true, CAP_PERFMON, .probe = probe_capability },
	{ "CAP_SYS_ADMIN", "not needed where the two above are effective", false, CAP_SYS_ADMIN,
	  .probe = probe_capability },
	{ "JIT compiler", "sysctl net.core.bpf_jit_enable=1", false, .probe = probe_jit },
	{ "unprivileged bpf", "", false, .probe = probe_unprivileged },
	{ "perf events", "CAP_PERFMON, or: sysctl kernel.perf_event_paranoid=-1", true,
	  .probe = probe_paranoid },
	{ "lockdown",
	  "programs may not read kernel memory under lockdown=confidentiality: boot without it",
	  true, .probe = probe_lockdown },
};

/* Prints one line, and how to mend it; false when something needed is missing. */
static bool run_check(const struct check *check, struct buf *out)
{
	struct buf detail;
	bool works;

	buf_init(&detail);
	if (check->attempt) {
		int error = check->attempt(check->argument);

		works = !error;
		buf_puts(&detail, works ? check->done : strerror(-error));
	} else {
		works = check->probe(check->argument, &detail);
	}
	buf_printf(out, "%-2s  %-30s  %s\n",
		   works	      ? "ok"
		   : check->is_needed ? "no"
				      : "-",
		   check->name, detail.n ? detail.at : "");
	if (!works && check->mend[0])
		buf_printf(out, "      %s\n", check->mend);
	buf_free(&detail);
	return works || !check->is_needed;
}

int cmd_doctor(struct options *options)
{
	bool is_well = true;
	struct buf out;

	buf_init(&out);
	for (u32 i = 0; i < ARRAY_SIZE(system_checks); i++)
		is_well &= run_check(&system_checks[i], &out);
	for (u32 i = 0; i < n_bpf_checks; i++)
		is_well &= run_check(&bpf_checks[i], &out);
	buf_printf(&out, "%s\n",
		   is_well ? "everything that queries on tracepoints need works"
			   : "queries on tracepoints need what is marked \"no\"");
	buf_flush(&out, STDOUT_FILENO);
	buf_free(&out);
	return is_well ? 0 : 1;
}
