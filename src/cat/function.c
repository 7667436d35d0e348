/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of the kernel: BTF -> streams of their entries (kprobe:NAME, fentry:NAME) and of their
 * returns (kretprobe:NAME, fexit:NAME).  The word says which event is meant; by what mechanism it
 * is read is the plan's choice (phys/function.c).  A function that BTF does not know, but the
 * kernel's list of symbols, has arguments without names; a place within one (NAME+OFFSET) has none.
 */
#include "cat/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_return(const struct stream_kind_info *kind)
{
	return kind->kind == STREAM_KRETPROBE || kind->kind == STREAM_FEXIT;
}

/* What is no number and no pointer, or too large for a register; its bytes, 0: unknown. */
static bool is_large(struct btf_blob *btf, u32 type, u32 *ret_bytes)
{
	struct btf_view view;

	*ret_bytes = 8;
	if (!btf_resolve(btf, type, &view)) {
		*ret_bytes = 0;
		return true;
	}
	if (view.kind != BTF_KIND_PTR)
		*ret_bytes = view.size_or_type;
	return view.kind == BTF_KIND_STRUCT || view.kind == BTF_KIND_UNION ||
	       view.kind == BTF_KIND_FLOAT || (view.kind == BTF_KIND_INT && *ret_bytes > 8);
}

/* Those that stand each in a register of its own, as far as that goes on. */
static void add_fields(struct catalog *catalog, struct stream *s, const struct btf_view *proto)
{
	struct btf_blob *btf = &catalog->btf;
	bool is_behind = false; /* a value that takes several registers, or the stack */
	u32 bytes;

	s->fields = arena_array(catalog->arena, struct field, proto->vlen + 1);
	/* Where a larger struct is to go is a first argument that nobody has written. */
	if (proto->size_or_type)
		is_behind = is_large(btf, proto->size_or_type, &bytes) && bytes > 16;
	for (u32 i = 0; i < proto->vlen; i++) {
		u32 type = btf_word_id(proto, 2 * i + 1);

		if (!type) /* "..." */
			break;
		is_behind |= is_large(btf, type, &bytes);
		s->function_words += MAX((bytes + 7) / 8, 1u);
		if (is_behind)
			continue;
		s->fields[i] = proto_argument(catalog, i);
		proto_set_type(catalog, btf_word_name(proto, 2 * i), type, &s->fields[i]);
		s->n_fields++;
	}
	if (s->is_return && proto->size_or_type && !is_large(btf, proto->size_or_type, &bytes)) {
		struct field *ret = &s->fields[s->n_fields++];

		*ret = proto_return(catalog, s->function_words);
		proto_set_type(catalog, "", proto->size_or_type, ret);
	}
}

/* What the registers carry. */
static void add_plain_fields(struct catalog *catalog, struct stream *s)
{
	u32 n = catalog->arch->n_arguments;

	s->fields = arena_array(catalog->arena, struct field, n + 1);
	while (!s->is_return && s->n_fields < n) {
		s->fields[s->n_fields] = proto_argument(catalog, s->n_fields);
		s->n_fields++;
	}
	if (s->is_return)
		s->fields[s->n_fields++] = proto_return(catalog, n);
}

static bool find_proto(struct catalog *catalog, u32 id, struct stream *s,
		       struct btf_view *ret_proto)
{
	s->function_btf_id = id & BTF_ID_MASK;
	if (!id || !btf_type(&catalog->btf, id, ret_proto))
		return false;
	s->module = ret_proto->blob->module;
	return btf_type(&catalog->btf, ret_proto->size_or_type, ret_proto) &&
	       ret_proto->kind == BTF_KIND_FUNC_PROTO;
}

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	struct btf_view proto;
	struct stream *s;
	const char *name;
	u32 offset, id;

	if (!function_split(catalog->arena, event, &name, &offset) ||
	    (offset && kind->kind != STREAM_KPROBE))
		return -ENOENT;
	s = stream_new(catalog->arena, kind, category, event);
	s->event = name;
	s->is_function = true;
	s->is_return = is_return(kind);
	s->function_offset_bytes = offset;
	id = catalog_btf_id_of(catalog, BTF_KIND_FUNC, name, category);
	if (find_proto(catalog, id, s, &proto)) {
		if (!offset)
			add_fields(catalog, s, &proto);
	} else {
		if (!catalog->is_live ||
		    !symbol_is_code(catalog->arena, stream_function(catalog->arena, s)))
			return -ENOENT;
		if (!offset)
			add_plain_fields(catalog, s);
	}
	*ret_stream = s;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those that the kernel can be told to call programs from: a line is "NAME [MODULE]". */
static void find_probeable(struct catalog *catalog)
{
	char *line, *next;

	if (catalog->probeable_looked)
		return;
	catalog->probeable_looked = true;
	if (!catalog->is_live || tracefs_read(catalog, "available_filter_functions"))
		return;
	for (line = arena_strdup(catalog->arena, catalog->scratch.at); *line; line = next) {
		size_t n = strcspn(line, "\n");

		next = line + n + (line[n] == '\n');
		line[n] = '\0';
		line[strcspn(line, " \t")] = '\0';
		vec_push(catalog->arena, &catalog->probeable, line);
	}
	if (catalog->probeable.n)
		qsort(catalog->probeable.at, catalog->probeable.n, sizeof(char *), compare_names);
}

/* Once: of several that bear one name the kernel would take any. */
static bool is_probeable(struct catalog *catalog, const char *name)
{
	u32 low = 0, high = catalog->probeable.n;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (strcmp(catalog->probeable.at[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < catalog->probeable.n && !strcmp(catalog->probeable.at[low], name) &&
	       (low + 1 == catalog->probeable.n ||
		strcmp(catalog->probeable.at[low + 1], name) != 0);
}

static int load_listed(struct catalog *catalog, const struct stream_kind_info *kind,
		       const struct stream_name *name, struct stream **ret_stream)
{
	struct btf_view proto;
	struct stream *s;

	find_probeable(catalog);
	/* Where the kernel does not tell, it says so when it is asked to attach. */
	if (catalog->probeable.n && !is_probeable(catalog, name->event))
		return -ENOENT;
	s = stream_new(catalog->arena, kind, NULL, name->event);
	s->is_function = true;
	s->is_return = is_return(kind);
	if (!find_proto(catalog, name->function_id, s, &proto))
		return -ENOENT;
	add_fields(catalog, s, &proto);
	*ret_stream = s;
	return 0;
}

/* Another module, or a function's module. */
static const char *meant_of_module(struct catalog *catalog, const struct stream_kind_info *kind,
				   const char *category, const char *event)
{
	struct btf_blob *btf = catalog_modules_btf(catalog);
	bool is_there = !strcmp(category, KERNEL_MODULE);
	struct suggest suggest;
	struct btf_view func;

	suggest_init(&suggest, category);
	for (u32 i = 0; btf && i < btf->n_modules; i++) {
		is_there |= !strcmp(btf->modules[i].module, category);
		suggest_offer(&suggest, btf->modules[i].module);
	}
	if (btf && btf_type(btf, catalog_any_btf_id(catalog, BTF_KIND_FUNC, event), &func))
		return arena_printf(catalog->arena, "did you mean \"%s:%s:%s\"?", kind->name,
				    func.blob->module ?: KERNEL_MODULE, event);
	if (is_there)
		return NULL;
	if (suggest_best(&suggest))
		return arena_printf(catalog->arena, "did you mean the module \"%s\"?",
				    suggest_best(&suggest));
	return arena_printf(catalog->arena, "no module %s is loaded, or it brings no BTF",
			    category);
}

/* Of a name that is in BTF, or near one, more is known. */
static const char *meant(struct catalog *catalog, const struct stream_kind_info *kind,
			 const struct stream_names *names, const char *category, const char *event)
{
	struct function_code code;
	const char *name;
	u32 offset_bytes;

	if (category)
		return meant_of_module(catalog, kind, category, event);
	if (!catalog->is_live || !function_split(catalog->arena, event, &name, &offset_bytes))
		return NULL;
	code = function_code(catalog->arena, name);
	return code.has_twin ? arena_printf(catalog->arena, "%s; %s", code.text, code.hint) : NULL;
}

struct listing {
	struct catalog *catalog;
	const struct stream_kind_info *kind;
	struct stream_names *names;
	const char *module;
};

static void add_name(void *context, u32 id, const char *name)
{
	struct listing *l = context;
	struct stream_name *added;

	if (!strncmp(name, "__traceiter_", 12) || !strncmp(name, "__bpf_trace_", 12) ||
	    !strncmp(name, "__probestub_", 12))
		return;
	stream_names_add(l->catalog->arena, l->names, l->kind, NULL, name);
	added = &l->names->list.at[l->names->list.n - 1];
	added->function_id = id;
	added->category = l->module;
}

/* Those that BTF knows, of modules as well; not what a tracepoint is made of. */
static int list(struct catalog *catalog, const struct stream_kind_info *kind,
		struct stream_names *names)
{
	struct listing l = { catalog, kind, names, KERNEL_MODULE };
	struct btf_blob *btf = catalog_modules_btf(catalog);

	if (!btf)
		return -ENODATA;
	btf_each_name(btf, BTF_KIND_FUNC, "", add_name, &l);
	for (u32 i = 0; i < btf->n_modules; i++) {
		l.module = btf->modules[i].module;
		btf_each_name(&btf->modules[i], BTF_KIND_FUNC, "", add_name, &l);
	}
	return 0;
}

static void complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	diag_failure_at(diags, "no-btf", span,
			"the kernel has no BTF (%s), so its functions are not listed" HINT
			"a kernel built with CONFIG_DEBUG_INFO_BTF=y has it; kprobe:NAME works "
			"without it for a name of /proc/kallsyms",
			strerror(-catalog->btf_error));
}

#define FUNCTION_KIND(kind_, name_, short_, is_twin_)                                              \
	{                                                                                          \
		.kind = kind_, .name = name_, .shorthand = short_, .form = name_ ":FUNCTION",      \
		.has_category = true, .is_whole = true, .list = list, .load = load,                \
		.load_listed = load_listed, .complain = complain, .meant = meant,                  \
		.nowhere = "it is not in this kernel, or in a module that is not loaded, or the "  \
			   "compiler has put all of it into its callers (inlined), which only "    \
			   "debug information tells: probe one of them; ebql list WORD shows the " \
			   "names that contain WORD",                                              \
		.has_many = true, .is_twin = is_twin_                                              \
	}

const struct stream_kind_info kprobe_kind = FUNCTION_KIND(STREAM_KPROBE, "kprobe", "k", false);
const struct stream_kind_info kretprobe_kind =
	FUNCTION_KIND(STREAM_KRETPROBE, "kretprobe", "kr", true);
const struct stream_kind_info fentry_kind = FUNCTION_KIND(STREAM_FENTRY, "fentry", "f", true);
const struct stream_kind_info fexit_kind = FUNCTION_KIND(STREAM_FEXIT, "fexit", "fr", true);
