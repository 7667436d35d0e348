/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table of costs, and the file in which a machine's own are kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cat/internal.h"

#define FIRST_LINE "ebql costs 1\n"
#define LAST_LINE  "end"
#define UNSTEADY   " unsteady"
#define BYTES_MAX  65536
/* No mechanism costs more than 10 ms. */
#define NS_MAX 1e7

/*
 * Measured on x86-64, kernel 6.18 (ARCHITECTURE.md, "What things cost").  A call's own function in
 * relation to raw tracepoints by instructions (bench/icount): fentry 130, raw 136; fentry and fexit
 * together 310, two raw ones 218; kprobe 357, kretprobe 635.
 */
const struct cost_info cost_infos[COST_N] = {
	[COST_NONE] = { "value", "a field, a number's operation", 1 },
	[COST_RAW_CALL] = { "raw_call", "raw tracepoint of all system calls, a wanted one", 60 },
	[COST_RAW_OTHER] = { "raw_other", "the same, another one", 71 },
	[COST_RAW_SHARED] = { "raw_shared", "both ends of system calls: what is paid once", 20 },
	[COST_TRACEPOINT_CALL] = { "tracepoint_call", "a system call's own tracepoint", 126 },
	[COST_TRACEPOINT_OTHER] = { "tracepoint_other", "the same, another system call", 40 },
	[COST_FENTRY_CALL] = { "fentry_call", "fentry of a system call's function", 57 },
	[COST_FEXIT_CALL] = { "fexit_call", "fexit of a system call's function", 113 },
	[COST_RAW] = { "raw", "raw tracepoint", 30 },
	[COST_TRACEPOINT] = { "tracepoint", "tracepoint", 90 },
	[COST_FENTRY] = { "fentry", "fentry", 57 },
	[COST_FEXIT] = { "fexit", "fexit", 113 },
	[COST_KPROBE] = { "kprobe", "kprobe", 160 },
	[COST_KRETPROBE] = { "kretprobe", "kretprobe", 280 },
	[COST_UPROBE] = { "uprobe", "uprobe", 570 },
	[COST_URETPROBE] = { "uretprobe", "uretprobe", 990 },
	[COST_USDT] = { "usdt", "user statically defined tracing point", 570 },
	[COST_SAMPLE] = { "sample", "perf sample", 11000 },
	[COST_CLOCK] = { "clock", "reading the clock where max_cpu does: hooks go with it", 0 },
	[COST_ACCOUNT] = { "account", "what max_cpu itself takes of an event", 7 },
	[COST_TIME] = { "time", "reading the clock", 30 },
	[COST_ID] = { "id", "pid, tid, uid, gid, cgroup, task", 5 },
	[COST_PPID] = { "ppid", "ppid", 40 },
	[COST_IN_NAMESPACE] = { "in_namespace", "an id as a PID namespace has it", 10 },
	[COST_COMM] = { "comm", "comm", 19 },
	[COST_TEXT] = { "text", "a text field", 20 },
	[COST_MEMBER] = { "member", "a member of a struct, by a helper", 25 },
	[COST_LOAD] = { "load", "a member of a struct, by a typed load", 2 },
	[COST_USER] = { "user", "a value of the program's memory", 25 },
	[COST_FILE_NAME] = { "file_name", "file_name() of a descriptor", 120 },
	[COST_FILE_PATH] = { "file_path", "file_path() of a descriptor, three names long", 400 },
	[COST_LIKE] = { "like", "LIKE", 40 },
	[COST_KSTACK] = { "kstack", "kstack", 745 },
	[COST_USTACK] = { "ustack", "ustack", 750 },
	[COST_CELL] = { "cell", "count, sum, min or max", 1 },
	[COST_DIRECT] = { "direct", "a group of a small range of keys", 1 },
	[COST_TABLE] = { "table", "a group of the hash table, few keys", 4 },
	[COST_TABLE_LARGE] = { "table_large", "the same, 10,000 keys", 12 },
	[COST_KERNEL_MAP] = { "kernel_map", "a group of the kernel's hash map", 60 },
	[COST_HISTOGRAM] = { "histogram", "a histogram's cell", 5 },
	[COST_START] = { "start", "a start that waits for its end", 4 },
	[COST_END] = { "end", "an end that finds its start", 4 },
	[COST_ROW] = { "row", "a row of the ring buffer", 60 },
};

void costs_init(struct costs *costs)
{
	*costs = (struct costs){ 0 };
	for (u32 i = 0; i < COST_N; i++)
		costs->of[i].ns = cost_infos[i].ns;
}

/* Written so that NAN is none, too. */
bool costs_take(struct costs *costs, enum cost cost, double ns, double spread_ns)
{
	bool is_cost = ns >= 0 && ns <= NS_MAX && spread_ns >= 0 && spread_ns <= NS_MAX;

	if (is_cost)
		costs->of[cost] = (struct cost_figure){ ns, spread_ns, true, false };
	return is_cost;
}

/* --- The file --- */

/* COST_N: another version's. */
static enum cost find(const char *name, size_t n)
{
	for (u32 i = 0; i < COST_N; i++)
		if (strlen(cost_infos[i].name) == n && strncmp(cost_infos[i].name, name, n) == 0)
			return (enum cost)i;
	return COST_N;
}

/* "raw_call 23.1 0.4"; of a name that another version had, nothing.  false: it is no such line. */
static bool take_line(struct costs *costs, const char *line)
{
	size_t n = strcspn(line, " ");
	enum cost cost = find(line, n);
	struct costs other;
	char *middle, *end;
	bool is_unsteady;
	double ns = strtod(line + n, &middle);
	double spread_ns = strtod(middle, &end);

	is_unsteady = strcmp(end, UNSTEADY) == 0;
	if (middle == line + n || end == middle || (*end && !is_unsteady))
		return false;
	if (cost == COST_N)
		return costs_take(&other, COST_NONE, ns, spread_ns);
	if (!costs_take(costs, cost, ns, spread_ns))
		return false;
	costs->of[cost].is_unsteady = is_unsteady;
	return true;
}

/* What stands behind the word of a line; NULL: it is another line. */
static const char *behind(const char *line, const char *word)
{
	size_t n = strlen(word);

	return strncmp(line, word, n) == 0 && line[n] == ' ' ? line + n + 1 : NULL;
}

static const char *why_not(struct costs *costs, char *text, const char *kernel, const char *cpu,
			   struct arena *arena)
{
	bool has_kernel = !kernel, has_cpu = !cpu, has_end = false;
	const char *is;
	u32 n = 1;

	if (strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0)
		return "it is no such file of this version";
	text += strlen(FIRST_LINE);
	for (char *line; (line = strsep(&text, "\n"));) {
		n++;
		if ((is = behind(line, "kernel"))) {
			if (kernel && strcmp(is, kernel) != 0)
				return arena_printf(arena, "it is of kernel %s, and this is %s", is,
						    kernel);
			has_kernel = true;
		} else if ((is = behind(line, "cpu"))) {
			if (cpu && strcmp(is, cpu) != 0)
				return arena_printf(arena, "it is of a CPU %s, and this is %s", is,
						    cpu);
			has_cpu = true;
		} else if (!has_end && strcmp(line, LAST_LINE) == 0) {
			has_end = true;
		} else if (*line && (has_end || !take_line(costs, line))) {
			return arena_printf(arena, "line %u is none of its", n);
		}
	}
	return !has_end		       ? "it was cut: its last line, " LAST_LINE ", is missing"
	       : has_kernel && has_cpu ? NULL
				       : "it does not say of which machine it is";
}

void costs_read(struct costs *costs, const char *text, const char *kernel, const char *cpu,
		struct arena *arena)
{
	const char *ignored;

	costs_init(costs);
	ignored = why_not(costs, arena_strdup(arena, text), kernel, cpu, arena);
	if (ignored)
		costs_init(costs);
	costs->ignored = ignored;
	/* One that has no account had a clock of other rounds than its hooks are of. */
	if (!costs->of[COST_ACCOUNT].is_measured)
		costs->of[COST_CLOCK] = (struct cost_figure){ cost_infos[COST_CLOCK].ns };
	for (u32 i = 0; i < COST_N; i++)
		costs->is_measured |= costs->of[i].is_measured;
}

void costs_write(const struct costs *costs, const char *kernel, const char *cpu, struct buf *out)
{
	buf_printf(out, FIRST_LINE "kernel %s\ncpu %s\n", kernel, cpu);
	for (u32 i = 0; i < COST_N; i++)
		if (costs->of[i].is_measured)
			buf_printf(out, "%s %.2f %.2f%s\n", cost_infos[i].name, costs->of[i].ns,
				   costs->of[i].spread_ns,
				   costs->of[i].is_unsteady ? UNSTEADY : "");
	buf_puts(out, LAST_LINE "\n");
}

/* --- This machine --- */

const char *costs_kernel(struct arena *arena)
{
	struct utsname name = { 0 };

	uname(&name);
	return arena_printf(arena, "%s %s", name.release, name.machine);
}

/* x86: "model name : ..."; arm64: the part's number, which is as good. */
const char *costs_cpu(struct arena *arena)
{
	static const char *const names[] = { "model name", "CPU part" };
	const char *model = "unknown", *line, *at;
	struct buf text;

	buf_init(&text);
	if (buf_read_file(&text, "/proc/cpuinfo", 1 << 20) && !text.n)
		buf_puts(&text, "");
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		line = strstr(text.at, names[i]);
		at = line ? strchr(line, ':') : NULL;
		if (!at)
			continue;
		at += 1 + strspn(at + 1, " \t");
		model = arena_strndup(arena, at, strcspn(at, "\n"));
		break;
	}
	buf_free(&text);
	return model;
}

const char *costs_path(struct arena *arena)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && *state == '/')
		return arena_printf(arena, "%s/ebql/costs", state);
	if (!geteuid())
		return "/var/lib/ebql/costs";
	return home && *home == '/' ? arena_printf(arena, "%s/.local/state/ebql/costs", home)
				    : NULL;
}

/* --- Of a catalog --- */

/* No reader of a pipe waits for its writer. */
static int read_file(const char *path, struct buf *text, const char **ret_ignored)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), error = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		*ret_ignored = "it is no regular file";
	else
		error = buf_read(text, fd, BYTES_MAX);
	if (error == -EFBIG)
		*ret_ignored = "it has more than 64 KiB";
	close(fd);
	return error == -EFBIG ? 0 : error;
}

static void look(struct catalog *catalog)
{
	struct arena *arena = catalog->arena;
	const char *path = catalog->is_live ? costs_path(arena) : catalog->costs_path;
	struct buf text;

	costs_init(&catalog->costs);
	buf_init(&text);
	if (path && !read_file(path, &text, &catalog->costs.ignored)) {
		buf_puts(&text, "");
		if (!catalog->costs.ignored)
			costs_read(&catalog->costs, text.at,
				   catalog->is_live ? costs_kernel(arena) : NULL,
				   catalog->is_live ? costs_cpu(arena) : NULL, arena);
		catalog->costs.path = path;
	}
	buf_free(&text);
}

const struct costs *catalog_costs(struct catalog *catalog)
{
	if (!catalog->costs_looked)
		look(catalog);
	catalog->costs_looked = true;
	return &catalog->costs;
}
