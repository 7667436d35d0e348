/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql doctor: asks kernel and privileges for each thing a query may need, by trying
 * it.  A line is "ok", "no" (needed and missing, with how to mend it) or "-" (missing
 * but not needed).
 */
#include "cli/cli.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cat/cat.h"
#include "cli/doctor.h"

/* The first bytes of a small file, without the last newline; false when unreadable. */
static bool read_line(const char *path, char *into, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, into, n - 1);
	close(fd);
	if (got < 0)
		return false;
	into[got] = '\0';
	into[strcspn(into, "\n")] = '\0';
	return true;
}

static bool probe_kernel(const struct check *check, struct buf *detail)
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

static bool probe_btf(const struct check *check, struct buf *detail)
{
	buf_puts(detail, "/sys/kernel/btf/vmlinux");
	return !access("/sys/kernel/btf/vmlinux", R_OK);
}

static bool probe_tracefs(const struct check *check, struct buf *detail)
{
	const char *const path[] = { "tracepoint", "sched", "sched_switch" };
	struct catalog *catalog;
	struct arena arena;
	struct diags diags;
	bool works;

	arena_init(&arena);
	diags_init(&diags, &arena, "doctor", "", 0);
	catalog = catalog_open_live(&arena);
	works = catalog_find(catalog, path, 3, (struct span){ 0, 0 }, &diags) != NULL;
	buf_puts(detail, works ? "formats are readable" : diags.list.at[0].message);
	catalog_close(catalog);
	arena_free(&arena);
	return works;
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
static bool probe_capability(const struct check *check, struct buf *detail)
{
	if (has_capability(check->argument)) {
		buf_puts(detail, "effective");
		return true;
	}
	if (check->argument != CAP_SYS_ADMIN && has_capability(CAP_SYS_ADMIN)) {
		buf_puts(detail, "not effective, but CAP_SYS_ADMIN is");
		return true;
	}
	buf_puts(detail, "not effective");
	return false;
}

static bool probe_jit(const struct check *check, struct buf *detail)
{
	char value[32];

	if (!read_line("/proc/sys/net/core/bpf_jit_enable", value, sizeof(value))) {
		buf_puts(detail, "unknown (net.core.bpf_jit_enable cannot be read)");
		return false;
	}
	buf_printf(detail, "net.core.bpf_jit_enable = %s", value);
	return value[0] != '0';
}

static bool probe_unprivileged(const struct check *check, struct buf *detail)
{
	char value[32];

	if (!read_line("/proc/sys/kernel/unprivileged_bpf_disabled", value, sizeof(value))) {
		buf_puts(detail, "unknown");
		return true;
	}
	buf_printf(detail, "kernel.unprivileged_bpf_disabled = %s%s", value,
		   value[0] == '0' ? "" : ": programs need CAP_BPF");
	return true;
}

/* Tracepoints through perf_event_open() need CAP_PERFMON unless paranoid is -1. */
static bool probe_paranoid(const struct check *check, struct buf *detail)
{
	char value[32];

	if (!read_line("/proc/sys/kernel/perf_event_paranoid", value, sizeof(value))) {
		buf_puts(detail, "the kernel has no perf events");
		return false;
	}
	buf_printf(detail, "kernel.perf_event_paranoid = %s", value);
	return atoi(value) < 0 || has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN);
}

static bool probe_lockdown(const struct check *check, struct buf *detail)
{
	char value[128];

	if (!read_line("/sys/kernel/security/lockdown", value, sizeof(value))) {
		buf_puts(detail, "none (no lockdown in this kernel, or securityfs not mounted)");
		return true;
	}
	buf_puts(detail, value);
	return !strstr(value, "[confidentiality]");
}

static const struct check system_checks[] = {
	{ "kernel 5.8 or later", true, probe_kernel, 0,
	  "ring buffers and CAP_BPF came with 5.8: boot a newer kernel" },
	{ "kernel types (BTF)", false, probe_btf, 0,
	  "a kernel with CONFIG_DEBUG_INFO_BTF=y; without it raw tracepoints have arg0..arg11" },
	{ "tracefs", true, probe_tracefs, 0,
	  "as root: mount -t tracefs tracefs /sys/kernel/tracing; as another user: "
	  "mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing" },
	{ "CAP_BPF", true, probe_capability, CAP_BPF,
	  "run as root, or: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep ebql" },
	{ "CAP_PERFMON", true, probe_capability, CAP_PERFMON,
	  "run as root, or: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep ebql" },
	{ "CAP_SYS_ADMIN", false, probe_capability, CAP_SYS_ADMIN,
	  "not needed where the two above are effective" },
	{ "JIT compiler", false, probe_jit, 0, "sysctl net.core.bpf_jit_enable=1" },
	{ "unprivileged bpf", false, probe_unprivileged, 0, "" },
	{ "perf events", true, probe_paranoid, 0,
	  "CAP_PERFMON, or: sysctl kernel.perf_event_paranoid=-1" },
	{ "lockdown", true, probe_lockdown, 0,
	  "programs may not read kernel memory under lockdown=confidentiality: boot without it" },
};

/* Prints one line, and how to mend it; false when something needed is missing. */
static bool run_check(const struct check *check, struct buf *out)
{
	struct buf detail;
	bool works;

	buf_init(&detail);
	works = check->probe(check, &detail);
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

int cmd_doctor(int argc, char **argv)
{
	bool is_well = true;
	struct buf out;

	if (argc > 1) {
		fprintf(stderr, "usage: ebql doctor\n");
		return 2;
	}
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
