/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a process has mapped to run -> names of its addresses.  Its files are opened as it sees
 * them, by /proc/PID/root, while it lives.
 */
#include "sym/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "sys/sys.h"

#define LOOKS_MAX   64	  /* at what is mapped, for addresses that are of nothing known */
#define KNOWN_MAX   4096u /* processes, and files */
#define IDENTITY_NS 5000000
#define LOOK_NS	    10000000000 /* at most between two looks at what is mapped */
#define MAPPED_MAX  4096u	/* came in a process: then what it has not any more is forgotten */

struct mapping {
	u64 start, end, offset;
	const char *path; /* of a file, or "[vdso]"; "": of none; in the process' arena */
	struct symbol_file *file;
};

/* What a process runs: each program that it executes is another one. */
struct process {
	struct process *next; /* the latest first */
	u32 pid, n_looks;
	u64 identity;	      /* 0: it had ended */
	u64 seen_ns;	      /* that it was that, CLOCK_MONOTONIC */
	u64 first_ns, due_ns; /* of the first look; when process_look() looks again */
	u32 n_added;	      /* mappings, since what was there before was forgotten */
	struct arena arena;
	VEC(struct mapping) mappings;
	struct symbol_table perf;
	u64 perf_bytes; /* that were read */
};

/* --- Files --- */

static struct symbol_file *file_of(struct namer *namer, u64 device, u64 inode)
{
	struct symbol_file *file = namer->files;

	while (file && (file->device != device || file->inode != inode))
		file = file->next;
	if (file)
		return file;
	file = arena_new(&namer->arena, struct symbol_file);
	*file = (struct symbol_file){ .next = namer->files, .device = device, .inode = inode };
	namer->files = file;
	namer->n_files++;
	return file;
}

/* As the process sees it; the same file, not another one that has come in its place. */
static void read_symbols(struct namer *namer, const struct process *process,
			 const struct mapping *mapping)
{
	struct symbol_file *file = mapping->file;
	char name[4200];
	struct stat stat;
	int fd;

	if (file->is_read)
		return;
	snprintf(name, sizeof(name), "root%s", mapping->path);
	fd = sys_process_file(process->pid, name);
	if (fd < 0)
		return;
	/* A file system in layers has numbers of its own. */
	if (fstat(fd, &stat) == 0 && (stat.st_ino == file->inode || !major(stat.st_dev))) {
		file_read(&namer->arena, fd, &file->table);
		file->is_read = true;
	}
	sys_close(&fd);
}

/* --- Mappings --- */

static bool is_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->file == b->file && (a->file || strcmp(a->path, b->path) == 0);
}

/* What is there no more, and nothing in its place, may still be asked for. */
static void add_mapping(struct process *process, struct mapping *new)
{
	u32 n = 0;

	for (u32 i = 0; i < process->mappings.n; i++) {
		const struct mapping *m = &process->mappings.at[i];

		if (is_same(m, new))
			return;
		if (m->end <= new->start || m->start >= new->end)
			process->mappings.at[n++] = *m;
	}
	process->mappings.n = n;
	process->n_added++;
	new->path = arena_strdup(&process->arena, new->path);
	vec_push(&process->arena, &process->mappings, *new);
}

static void forget_mappings(struct process *process)
{
	arena_free(&process->arena);
	arena_init(&process->arena);
	memset(&process->mappings, 0, sizeof(process->mappings));
	memset(&process->perf, 0, sizeof(process->perf));
	process->perf_bytes = process->n_added = 0;
}

/* "55d0c8a00000-55d0c8a01000 r-xp 00001000 08:01 1234   /usr/bin/x" */
static void read_mapping(struct namer *namer, struct process *process, char *line)
{
	unsigned long long start, end, offset, inode;
	struct mapping m = { 0 };
	unsigned int major, minor;
	char rights[5];
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, rights, &offset, &major,
		   &minor, &inode, &at) < 7 ||
	    rights[2] != 'x')
		return;
	m.start = start;
	m.end = end;
	m.offset = offset;
	m.path = at ? line + at : "";
	if (inode)
		m.file = file_of(namer, makedev(major, minor), inode);
	add_mapping(process, &m);
}

#define MIX 0x9e3779b97f4a7c15ull

/*
 * Which program it is: when the process began, and which file it runs; and, to who may see that,
 * where the program's code and stack are, which execve(2) sets.  0: the process has ended.
 */
static u64 identity_of(u32 pid)
{
	int fd = sys_process_file(pid, "stat"), exe_fd = sys_process_file(pid, "exe");
	struct stat exe;
	struct buf text;
	char *at, *word;
	u64 hash = 0;

	buf_init(&text);
	if (fd >= 0 && exe_fd >= 0 && fstat(exe_fd, &exe) == 0 && !buf_read(&text, fd, SIZE_MAX))
		hash = (exe.st_dev ^ exe.st_ino * MIX) | 1;
	/* Behind the name, which is word 2. */
	at = hash && text.n ? strrchr(text.at, ')') : NULL;
	for (u32 i = 2; at && (word = strsep(&at, " ")); i++)
		if (i == 22 || (i >= 26 && i <= 28))
			hash = (hash ^ strtoull(word, NULL, 10)) * MIX;
	buf_free(&text);
	sys_close(&fd);
	sys_close(&exe_fd);
	return hash;
}

static void look(struct namer *namer, struct process *process)
{
	int fd = sys_process_file(process->pid, "maps");
	u64 now_ns = base_monotonic_ns();
	struct buf text;

	process->due_ns = now_ns + MIN((now_ns - process->first_ns) / 4, LOOK_NS);
	if (fd < 0)
		return;
	buf_init(&text);
	/* Of one that runs another program by now they are not. */
	if (!buf_read(&text, fd, SIZE_MAX) && text.n &&
	    (!process->mappings.n || identity_of(process->pid) == process->identity)) {
		if (process->n_added > MAPPED_MAX)
			forget_mappings(process);
		for (char *line = text.at, *end; line && *line; line = end) {
			end = strchr(line, '\n');
			if (end)
				*end++ = '\0';
			read_mapping(namer, process, line);
		}
	}
	buf_free(&text);
	sys_close(&fd);
	/* Now, since it may have ended when they are wanted. */
	for (u32 i = 0; i < process->mappings.n; i++)
		if (process->mappings.at[i].file)
			read_symbols(namer, process, &process->mappings.at[i]);
}

static const struct mapping *find(const struct process *process, u64 address)
{
	for (u32 i = 0; i < process->mappings.n; i++) {
		const struct mapping *m = &process->mappings.at[i];

		if (address >= m->start && address < m->end)
			return m;
	}
	return NULL;
}

static struct process *known(const struct namer *namer, u32 pid, const struct process *before)
{
	struct process *process = before ? before->next : namer->processes;

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

static struct process *add(struct namer *namer, u32 pid, u64 identity)
{
	struct process *process;

	if (namer->n_processes >= KNOWN_MAX || namer->n_files >= KNOWN_MAX)
		processes_forget(namer);
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->next = namer->processes;
	process->pid = pid;
	process->identity = identity;
	process->first_ns = base_monotonic_ns();
	arena_init(&process->arena);
	namer->processes = process;
	namer->n_processes++;
	look(namer, process);
	return process;
}

static bool has_all(const struct process *process, const u64 *addresses, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (!find(process, addresses[i] - (i > 0)))
			return false;
	return true;
}

/* The program that it runs now: many stacks come at once. */
static struct process *current_of(struct namer *namer, u32 pid)
{
	struct process *process = known(namer, pid, NULL);
	u64 now_ns = base_monotonic_ns(), identity;

	if (process && now_ns < process->seen_ns + IDENTITY_NS)
		return process;
	identity = identity_of(pid);
	if (!process || (identity && process->identity != identity))
		process = add(namer, pid, identity);
	if (process)
		process->seen_ns = now_ns;
	return process;
}

/* They may be of before the latest execve(2): then an earlier program has them. */
struct process *process_of(struct namer *namer, u32 pid, const u64 *addresses, u32 n)
{
	struct process *latest = current_of(namer, pid), *process = latest;

	while (process && !has_all(process, addresses, n))
		process = known(namer, pid, process);
	return process ?: latest;
}

/* A program maps more as it runs, most of it at its beginning. */
void process_look(struct namer *namer, u32 pid)
{
	struct process *process;

	if (namer->n_files >= KNOWN_MAX)
		processes_forget(namer);
	process = current_of(namer, pid);

	if (process && base_monotonic_ns() >= process->due_ns)
		look(namer, process);
}

void processes_forget(struct namer *namer)
{
	while (namer->processes) {
		struct process *process = namer->processes;

		namer->processes = process->next;
		arena_free(&process->arena);
		free(process);
	}
	arena_free(&namer->arena);
	arena_init(&namer->arena);
	namer->files = NULL;
	namer->n_processes = namer->n_files = 0;
}

/* --- Code that no file has --- */

/* The process' number where it lives, which the map's name has. */
static u32 inner_pid(const struct process *process)
{
	int fd = sys_process_file(process->pid, "status");
	u32 pid = process->pid;
	const char *line, *end;
	struct buf text;

	if (fd < 0)
		return pid;
	buf_init(&text);
	line = buf_read(&text, fd, SIZE_MAX) ? NULL : strstr(text.at, "\nNSpid:");
	end = line ? strchrnul(line + 1, '\n') : NULL;
	while (line && end > line && end[-1] >= '0' && end[-1] <= '9')
		end--;
	if (line)
		pid = (u32)strtoul(end, NULL, 10);
	buf_free(&text);
	sys_close(&fd);
	return pid;
}

/* "START SIZE name", in hex. */
static void add_perf(struct arena *arena, struct symbol_table *table, const char *line)
{
	char *rest, *name;
	u64 start = strtoull(line, &rest, 16), n_bytes = strtoull(rest, &name, 16);

	if (rest != line && name != rest && *name == ' ' && name[1])
		vec_push(arena, &table->list,
			 (struct symbol){ start, n_bytes, arena_strdup(arena, name + 1) });
}

/* The map grows as the program compiles: what is new in it. */
static void read_perf(struct process *process)
{
	struct stat stat;
	struct buf text;
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "root/tmp/perf-%u.map", inner_pid(process));
	fd = sys_process_file(process->pid, name);
	if (fd < 0)
		return;
	buf_init(&text);
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) &&
	    (u64)stat.st_size > process->perf_bytes &&
	    lseek(fd, (off_t)process->perf_bytes, SEEK_SET) >= 0 &&
	    !buf_read(&text, fd, SIZE_MAX)) {
		for (char *line = text.at, *end; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			add_perf(&process->arena, &process->perf, line);
			process->perf_bytes += (u64)(end + 1 - line);
		}
		symbol_table_sort(&process->perf, true); /* code that was made anew */
	}
	buf_free(&text);
	sys_close(&fd);
}

static const char *perf_name(struct process *process, u64 address)
{
	const struct symbol *s = symbol_table_find(&process->perf, address);

	if (!s) {
		read_perf(process);
		s = symbol_table_find(&process->perf, address);
	}
	return s ? s->name : NULL;
}

/* --- Names --- */

void process_name(struct namer *namer, struct process *process, u64 address, struct buf *to)
{
	const struct mapping *m = find(process, address);
	const struct symbol *s;
	const char *base;

	/* What an earlier program of it had mapped stays as it was. */
	if (!m && process == known(namer, process->pid, NULL) && process->n_looks++ < LOOKS_MAX) {
		look(namer, process);
		m = find(process, address);
	}
	if (!m || !m->file) {
		buf_puts(to, m && m->path[0] == '[' ? m->path : perf_name(process, address) ?: "");
		return;
	}
	address += m->offset - m->start;
	s = symbol_table_find(&m->file->table, address);
	base = strrchr(m->path, '/');
	if (s)
		buf_puts(to, s->name);
	else
		buf_printf(to, "[%s+0x%llx]", base ? base + 1 : m->path,
			   (unsigned long long)address);
}
