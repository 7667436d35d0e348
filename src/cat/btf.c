/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * BTF blob -> types by id and ids by name, without building a table of all types.
 * A name becomes a string offset by one search over the string section; one walk
 * over the records then compares numbers.  The walk leaves a mark each 64 types, so
 * that later look-ups by id start near.  Nothing in the blob is trusted.
 *
 * A module's blob goes on behind the kernel's own: what is numbered below its first id, or its
 * first place of a name, is there.
 */
#include "cat/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BTF_MARK_TYPES	64
#define MODULES_MAX	((1u << (32 - BTF_ID_BITS)) - 1)
#define BTF_RESOLVE_MAX 32 /* longest believable chain of typedefs and qualifiers */

/* Bytes behind struct btf_type: base[kind] + each[kind] * vlen.  Kinds as of kernel 6.0. */
#define BTF_KINDS 20
static const u8 tail_base[BTF_KINDS] = {
	[BTF_KIND_INT] = 4,
	[BTF_KIND_ARRAY] = 12,
	[BTF_KIND_VAR] = 4,
	[BTF_KIND_DECL_TAG] = 4,
};
static const u8 tail_each[BTF_KINDS] = {
	[BTF_KIND_STRUCT] = 12, [BTF_KIND_UNION] = 12,	   [BTF_KIND_ENUM] = 8,
	[BTF_KIND_ENUM64] = 12, [BTF_KIND_FUNC_PROTO] = 8, [BTF_KIND_DATASEC] = 12,
};

static inline u32 load_u32(const u8 *at)
{
	u32 word;

	memcpy(&word, at, 4);
	return word;
}

/* Bytes of the record at offset, 0 when it is broken or the types end. */
static inline u32 record_bytes(const struct btf_blob *btf, u32 offset)
{
	u32 info, kind, bytes;

	if (btf->types_bytes - offset < sizeof(struct btf_type))
		return 0;
	info = load_u32(btf->types + offset + 4);
	kind = BTF_INFO_KIND(info);
	if (kind == BTF_KIND_UNKN || kind >= BTF_KINDS)
		return 0;
	bytes = sizeof(struct btf_type) + tail_base[kind] + tail_each[kind] * BTF_INFO_VLEN(info);
	return bytes <= btf->types_bytes - offset ? bytes : 0;
}

static u32 count_types(struct btf_blob *btf);

int btf_init(struct btf_blob *btf, struct arena *arena, struct btf_blob *base, const void *data,
	     size_t data_bytes)
{
	struct btf_header header;
	u64 body;

	*btf = (struct btf_blob){ .data = data, .data_bytes = data_bytes, .base = base };
	btf->first_id = base ? count_types(base) + 1 : 1;
	if (data_bytes < sizeof(header))
		return -EINVAL;
	memcpy(&header, data, sizeof(header));
	if (header.magic != BTF_MAGIC || header.version != BTF_VERSION ||
	    header.hdr_len < sizeof(header) || header.hdr_len > data_bytes)
		return -EINVAL;
	body = data_bytes - header.hdr_len;
	if ((u64)header.type_off + header.type_len > body ||
	    (u64)header.str_off + header.str_len > body || (!base && !header.str_len))
		return -EINVAL;
	btf->types = btf->data + header.hdr_len + header.type_off;
	btf->types_bytes = header.type_len;
	btf->strings = (const char *)btf->data + header.hdr_len + header.str_off;
	btf->strings_bytes = header.str_len;
	/* The empty name comes first of all, and the last name must end. */
	if ((!base && btf->strings[0]) ||
	    (btf->strings_bytes && btf->strings[btf->strings_bytes - 1]))
		return -EINVAL;
	btf->marks = arena_array(arena, u32,
				 btf->types_bytes / sizeof(struct btf_type) / BTF_MARK_TYPES + 1);
	btf->n_marks = 1;
	return 0;
}

static int read_all(int fd, u8 *into, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t more = read(fd, into + got, n - got);

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return more ? -errno : -EIO;
		got += more;
	}
	return 0;
}

int btf_open(struct btf_blob *btf, struct arena *arena, struct btf_blob *base, const char *path)
{
	struct stat stat;
	void *data;
	int fd, error = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) || stat.st_size <= 0) {
		close(fd);
		return -EINVAL;
	}
	/* /sys/kernel/btf/vmlinux can be mapped since kernel 6.16; before, it is read. */
	data = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		data = mmap(NULL, stat.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		if (data == MAP_FAILED)
			error = -errno;
		else
			error = read_all(fd, data, stat.st_size);
	}
	close(fd);
	if (data == MAP_FAILED)
		return error;
	if (!error)
		error = btf_init(btf, arena, base, data, stat.st_size);
	if (error)
		munmap(data, stat.st_size);
	else
		btf->is_mapped = true;
	return error;
}

void btf_open_modules(struct btf_blob *btf, struct arena *arena, const char *folder)
{
	VEC(struct btf_blob) modules = { 0 };
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && modules.n < MODULES_MAX && (entry = readdir(dir))) {
		const char *path = arena_printf(arena, "%s/%s", folder, entry->d_name);
		struct btf_blob blob;

		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "vmlinux") ||
		    btf_open(&blob, arena, btf, path))
			continue;
		blob.module = path + strlen(folder) + 1;
		blob.number = modules.n + 1;
		vec_push(arena, &modules, blob);
	}
	if (dir)
		closedir(dir);
	btf->modules = modules.at;
	btf->n_modules = modules.n;
}

void btf_close(struct btf_blob *btf)
{
	for (u32 i = 0; i < btf->n_modules; i++)
		btf_close(&btf->modules[i]);
	if (btf->is_mapped)
		munmap((void *)btf->data, btf->data_bytes);
	*btf = (struct btf_blob){ 0 };
}

static const char *btf_string(const struct btf_blob *btf, u32 offset)
{
	if (btf->base && offset < btf->base->strings_bytes)
		return btf->base->strings + offset;
	if (btf->base)
		offset -= btf->base->strings_bytes;
	return offset < btf->strings_bytes ? btf->strings + offset : "";
}

/* Remembers where type id starts when it is the next one to be marked. */
static inline void mark(struct btf_blob *btf, u32 id, u32 offset)
{
	if ((id - 1) % BTF_MARK_TYPES == 0 && (id - 1) / BTF_MARK_TYPES == btf->n_marks)
		btf->marks[btf->n_marks++] = offset;
}

/* The id of the blob's i-th type, counted from 1. */
static u32 id_of(const struct btf_blob *btf, u32 i)
{
	return btf->number << BTF_ID_BITS | (btf->first_id - 1 + i);
}

static u32 count_types(struct btf_blob *btf)
{
	u32 offset = btf->marks[btf->n_marks - 1], n = (btf->n_marks - 1) * BTF_MARK_TYPES, bytes;

	for (; (bytes = record_bytes(btf, offset)); offset += bytes)
		mark(btf, ++n, offset);
	return n;
}

/* Offset of the name in the string section, 0 when no type bears it. */
static u32 name_offset(const struct btf_blob *btf, const char *name)
{
	u32 first = btf->base ? btf->base->strings_bytes : 0;
	size_t n = strlen(name);
	char needle[256];
	const char *at;

	if (!n || n > sizeof(needle) - 2)
		return 0;
	/* No empty name is ahead of a module's first one. */
	if (btf->strings_bytes && !strcmp(btf->strings, name))
		return first;
	needle[0] = '\0';
	memcpy(needle + 1, name, n + 1);
	at = memmem(btf->strings, btf->strings_bytes, needle, n + 2);
	return at ? first + (at + 1 - btf->strings) : 0;
}

/* By the places of their names. */
static void find_by_places(struct btf_blob *btf, struct btf_wanted *wanted, u32 n)
{
	u64 maybe[64] = { 0 }; /* a bit for each name's place, of 4,096 */
	u32 offset = 0, bytes, n_left = 0;

	for (u32 i = 0; i < n; i++) {
		wanted[i].id = 0;
		n_left += wanted[i].place != 0;
		maybe[wanted[i].place / 64 % 64] |= 1ull << wanted[i].place % 64;
	}
	for (u32 id = 1; n_left && (bytes = record_bytes(btf, offset)); id++, offset += bytes) {
		u32 place = load_u32(btf->types + offset);

		mark(btf, id, offset);
		if (!place || !(maybe[place / 64 % 64] >> place % 64 & 1))
			continue;
		for (u32 i = 0; i < n; i++) {
			struct btf_wanted *w = &wanted[i];

			if (place != w->place || w->id ||
			    BTF_INFO_KIND(load_u32(btf->types + offset + 4)) != w->kind)
				continue;
			w->id = id_of(btf, id);
			n_left--;
		}
	}
}

void btf_find_all(struct btf_blob *btf, struct btf_wanted *wanted, u32 n)
{
	for (u32 i = 0; i < n; i++)
		wanted[i].place = name_offset(btf, wanted[i].name);
	find_by_places(btf, wanted, n);
}

u32 btf_find(struct btf_blob *btf, u32 kind, const char *name)
{
	struct btf_wanted wanted = { .kind = kind, .name = name };

	btf_find_all(btf, &wanted, 1);
	return wanted.id;
}

u32 btf_find_in_modules(struct btf_blob *btf, u32 kind, const char *name, const char *only)
{
	u32 place = name_offset(btf, name), found = 0; /* a name of both stands in the kernel's */

	for (u32 i = 0; i < btf->n_modules; i++) {
		struct btf_blob *module = &btf->modules[i];
		struct btf_wanted wanted = { .kind = kind, .name = name };

		if (only && strcmp(module->module, only) != 0)
			continue;
		wanted.place = place ?: name_offset(module, name);
		find_by_places(module, &wanted, 1);
		if (wanted.id && found)
			return 0;
		found = wanted.id ?: found;
	}
	return found;
}

/* An id in a blob: below its first one it is the kernel's own. */
static u32 whole_id(const struct btf_blob *btf, u32 id)
{
	return id < btf->first_id ? id : btf->number << BTF_ID_BITS | id;
}

u32 btf_word_id(const struct btf_view *view, u32 i)
{
	return whole_id(view->blob, btf_word(view, i));
}

const char *btf_word_name(const struct btf_view *view, u32 i)
{
	return btf_string(view->blob, btf_word(view, i));
}

static bool has_size(u32 kind)
{
	return kind == BTF_KIND_INT || kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION ||
	       kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64 || kind == BTF_KIND_FLOAT ||
	       kind == BTF_KIND_DATASEC;
}

bool btf_type(struct btf_blob *btf, u32 id, struct btf_view *ret_view)
{
	u32 offset, bytes, info, at, nearest, number = id >> BTF_ID_BITS, whole = id;

	if (number > btf->n_modules)
		return false;
	if (number)
		btf = &btf->modules[number - 1];
	id = (id & BTF_ID_MASK) - (btf->first_id - 1);
	if (!id || id > BTF_ID_MASK)
		return false;
	nearest = MIN((id - 1) / BTF_MARK_TYPES, btf->n_marks - 1);
	offset = btf->marks[nearest];
	for (at = nearest * BTF_MARK_TYPES + 1; (bytes = record_bytes(btf, offset)); at++) {
		mark(btf, at, offset);
		if (at == id)
			break;
		offset += bytes;
	}
	if (!bytes)
		return false;
	info = load_u32(btf->types + offset + 4);
	*ret_view = (struct btf_view){
		.blob = btf,
		.id = whole,
		.name = btf_string(btf, load_u32(btf->types + offset)),
		.kind = BTF_INFO_KIND(info),
		.vlen = BTF_INFO_VLEN(info),
		.kind_flag = BTF_INFO_KFLAG(info),
		.size_or_type = load_u32(btf->types + offset + 8),
		.tail = btf->types + offset + sizeof(struct btf_type),
	};
	if (!has_size(ret_view->kind))
		ret_view->size_or_type = whole_id(btf, ret_view->size_or_type);
	return true;
}

bool btf_resolve(struct btf_blob *btf, u32 id, struct btf_view *ret_view)
{
	for (int i = 0; i < BTF_RESOLVE_MAX; i++) {
		if (!btf_type(btf, id, ret_view))
			return false;
		switch (ret_view->kind) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = ret_view->size_or_type;
			break;
		default:
			return true;
		}
	}
	return false;
}

void btf_each_name(struct btf_blob *btf, u32 kind, const char *prefix,
		   void (*visit)(void *context, u32 id, const char *name), void *context)
{
	size_t n = strlen(prefix);
	u32 offset = 0, bytes;

	for (u32 id = 1; (bytes = record_bytes(btf, offset)); id++, offset += bytes) {
		const char *name;

		mark(btf, id, offset);
		if (BTF_INFO_KIND(load_u32(btf->types + offset + 4)) != kind)
			continue;
		name = btf_string(btf, load_u32(btf->types + offset));
		if (!strncmp(name, prefix, n))
			visit(context, id_of(btf, id), name);
	}
}
