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

#include "base/buf.h"
#include "sys/sys.h"

#define LOOKS_MAX 64 /* at what is mapped: a program may map more as it runs */

struct mapping {
	u64 start, end, offset;
	const char *path; /* of a file, or "[vdso]"; "": of none */
	struct symbol_file *file;
};

struct process {
	struct process *next;
	u32 pid, n_looks;
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

/* "55d0c8a00000-55d0c8a01000 r-xp 00001000 08:01 1234   /usr/bin/x" */
static void add_mapping(struct namer *namer, struct process *process, char *line)
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
	m.path = arena_strdup(&namer->arena, at ? line + at : "");
	if (inode)
		m.file = file_of(namer, makedev(major, minor), inode);
	vec_push(&namer->arena, &process->mappings, m);
}

static void look(struct namer *namer, struct process *process)
{
	int fd = process->n_looks < LOOKS_MAX ? sys_process_file(process->pid, "maps") : -1;
	struct buf text;

	process->n_looks++;
	if (fd < 0)
		return;
	buf_init(&text);
	/* Of one that is ending, or has ended, there is nothing: what was stays known. */
	if (!buf_read(&text, fd, SIZE_MAX) && text.n) {
		process->mappings.n = 0;
		for (char *line = text.at, *end; line && *line; line = end) {
			end = strchr(line, '\n');
			if (end)
				*end++ = '\0';
			add_mapping(namer, process, line);
		}
	}
	buf_free(&text);
	sys_close(&fd);
	/* Now, since it may have ended when they are wanted. */
	for (u32 i = 0; i < process->mappings.n; i++)
		if (process->mappings.at[i].file)
			read_symbols(namer, process, &process->mappings.at[i]);
}

struct process *process_of(struct namer *namer, u32 pid)
{
	struct process *process = namer->processes;

	while (process && process->pid != pid)
		process = process->next;
	if (process)
		return process;
	process = arena_new(&namer->arena, struct process);
	*process = (struct process){ .next = namer->processes, .pid = pid };
	namer->processes = process;
	look(namer, process);
	return process;
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
static void read_perf(struct namer *namer, struct process *process)
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
			add_perf(&namer->arena, &process->perf, line);
			process->perf_bytes += (u64)(end + 1 - line);
		}
		table_sort(&process->perf, true); /* code that was made anew */
	}
	buf_free(&text);
	sys_close(&fd);
}

static const char *perf_name(struct namer *namer, struct process *process, u64 address)
{
	const struct symbol *s = table_find(&process->perf, address);

	if (!s) {
		read_perf(namer, process);
		s = table_find(&process->perf, address);
	}
	return s ? s->name : NULL;
}

/* --- Names --- */

const char *process_name(struct namer *namer, struct process *process, u64 address)
{
	const struct mapping *m = find(process, address);
	const struct symbol *s;
	const char *base;

	if (!m) {
		look(namer, process);
		m = find(process, address);
	}
	if (!m || !m->file)
		return m && m->path[0] == '[' ? m->path : perf_name(namer, process, address);
	s = table_find(&m->file->table, address - m->start + m->offset);
	if (s)
		return s->name;
	base = strrchr(m->path, '/');
	return arena_printf(&namer->arena, "[%s+0x%llx]", base ? base + 1 : m->path,
			    (unsigned long long)(address - m->start + m->offset));
}
