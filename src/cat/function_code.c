/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's list of symbols -> what has become of a function: code of its own, or of other names
 * that the compiler has made of it, or none; and whether it lies where no probe may be.  A line
 * there is "ADDRESS t NAME\t[MODULE]".  Reading it takes 26 ms, so only who explains or fails does.
 */
#include "cat/internal.h"

#include <stdlib.h>
#include <string.h>

#include "sys/sys.h"

#define TWINS_MAX 3

/* Between START and END of them the kernel allows no probes (arch_within_kprobe_blacklist()). */
static const struct {
	const char *start, *end, *what;
} sections[] = {
	{ "__kprobes_text_start", "__kprobes_text_end", "probes need it themselves (__kprobes)" },
	{ "__noinstr_text_start", "__noinstr_text_end", "it runs where none may (noinstr)" },
	{ "__entry_text_start", "__entry_text_end", "it is an entry into the kernel" },
	{ "_sinittext", "_einittext", "it ran when the kernel started, and is gone" },
};

struct symbols {
	const char *name, *module; /* NULL: of any */
	size_t n;
	u32 n_found, n_twins;
	u64 address;
	const char *twins[TWINS_MAX];
	u64 starts[ARRAY_SIZE(sections)], ends[ARRAY_SIZE(sections)];
	struct suggest suggest;
	const char *nearest;
};

/* ".isra.0", ".constprop.3", ".part.0": but ".cold" is jumped to, and never called. */
static bool is_twin(const char *suffix)
{
	return !strncmp(suffix, ".isra.", 6) || !strncmp(suffix, ".constprop.", 11) ||
	       !strncmp(suffix, ".part.", 6);
}

static void take_symbol(struct symbols *s, struct arena *arena, const char *line, const char *name)
{
	u64 address;

	if (strchr("tTwW", name[-2]) && strncmp(name, s->name, s->n) == 0 &&
	    (!name[s->n] || is_twin(name + s->n))) {
		if (!name[s->n] && !s->n_found++)
			s->address = strtoull(line, NULL, 16);
		else if (name[s->n] && s->n_twins++ < TWINS_MAX)
			s->twins[s->n_twins - 1] = arena_strdup(arena, name);
		return;
	}
	/* Of 100,000 names few are near, and each look costs. */
	if (strchr("tTwW", name[-2]) && strncmp(name, s->name, 2) == 0)
		suggest_offer(&s->suggest, name);
	if (name[0] != '_')
		return;
	address = strtoull(line, NULL, 16);
	for (u32 i = 0; i < ARRAY_SIZE(sections); i++) {
		if (strcmp(name, sections[i].start) == 0)
			s->starts[i] = address;
		else if (strcmp(name, sections[i].end) == 0)
			s->ends[i] = address;
	}
}

/* Behind a name of a module stands "\t[MODULE]". */
static bool is_of_module(const struct symbols *s, const char *behind)
{
	size_t n = s->module ? strlen(s->module) : 0;

	if (!s->module || !behind[0])
		return !s->module || !strcmp(s->module, KERNEL_MODULE);
	return !strncmp(behind + 2, s->module, n) && behind[2 + n] == ']';
}

/* A list that is not to be read says nothing, one without addresses nothing of where code lies. */
static bool find_symbols(struct arena *arena, const char *name, struct symbols *ret)
{
	const char *colon = strchr(name, ':');
	int fd = sys_kallsyms_open();
	char *end, *module;
	struct buf text;

	*ret = (struct symbols){ .name = colon ? colon + 1 : name };
	ret->module = colon ? arena_strndup(arena, name, colon - name) : NULL;
	ret->n = strlen(ret->name);
	suggest_init(&ret->suggest, ret->name);
	buf_init(&text);
	if (fd < 0 || buf_read(&text, fd, SIZE_MAX)) {
		sys_close(&fd);
		buf_free(&text);
		return false;
	}
	sys_close(&fd);
	for (char *line = text.at; *line; line = end + 1) {
		char *symbol = line + strcspn(line, " ") + 3;

		end = strchr(line, '\n');
		if (!end || symbol > end)
			break;
		*end = '\0';
		module = symbol + strcspn(symbol, "\t");
		if (is_of_module(ret, module)) {
			*module = '\0';
			take_symbol(ret, arena, line, symbol);
		}
	}
	if (suggest_best(&ret->suggest))
		ret->nearest = arena_strdup(arena, suggest_best(&ret->suggest));
	buf_free(&text);
	return true;
}

/* A list of which each line ends with the name: debugfs need not be mounted. */
static bool is_blacklisted(struct arena *arena, const struct symbols *s)
{
	struct buf text;

	buf_init_in(&text, arena);
	return !buf_read_file(&text, "/sys/kernel/debug/kprobes/blacklist", SIZE_MAX) &&
	       strstr(text.at, arena_printf(arena, "\t%s\n", s->name));
}

static const char *forbidden(struct arena *arena, const struct symbols *s)
{
	for (u32 i = 0; i < ARRAY_SIZE(sections); i++)
		if (s->address >= s->starts[i] && s->address < s->ends[i])
			return sections[i].what;
	return is_blacklisted(arena, s) ? "it is in /sys/kernel/debug/kprobes/blacklist" : NULL;
}

#define WHICH_CALLERS "which callers only debug information tells"

static struct function_code without_code(struct arena *arena, const struct symbols *s)
{
	const char *twin = s->n_twins ? s->twins[0] : NULL;
	const char *more =
		s->n_twins > 1 ? arena_printf(arena, " (and %u more)", s->n_twins - 1) : "";

	if (twin && strncmp(twin + s->n, ".part.", 6) == 0)
		return (struct function_code){
			.has_twin = true,
			.text = arena_printf(
				arena, "its beginning is within its callers, the rest is %s%s",
				twin, more),
			.hint = arena_printf(
				arena,
				"kprobe:%s is called where the beginning does not do; " WHICH_CALLERS,
				twin)
		};
	if (twin)
		return (struct function_code){
			.has_twin = true,
			.text = arena_printf(
				arena, "the compiler has made %s%s of it, with other arguments",
				twin, more),
			.hint = arena_printf(arena,
					     "kprobe:%s has them as arg0, arg1, ...; callers may "
					     "have some of it within them, " WHICH_CALLERS,
					     twin)
		};
	return (struct function_code){
		.text = "there is no code of that name: the compiler has put it into its callers",
		.hint = arena_printf(arena, WHICH_CALLERS ", or the source: probe one of them%s%s",
				     s->nearest ? "; a name near it that has code: " : "",
				     s->nearest ?: "")
	};
}

bool symbol_is_code(struct arena *arena, const char *name)
{
	struct symbols s;

	return find_symbols(arena, name, &s) && s.n_found;
}

u64 function_address(struct arena *arena, const char *name)
{
	struct symbols s;

	return find_symbols(arena, name, &s) && s.n_found == 1 ? s.address : 0;
}

struct function_code function_code(struct arena *arena, const char *name)
{
	struct function_code code = { .is_there = true };
	struct symbols s;
	const char *why;
	struct buf twins;

	if (!find_symbols(arena, name, &s))
		return code;
	if (!s.n_found)
		return without_code(arena, &s);
	why = forbidden(arena, &s);
	if (why)
		return (struct function_code){
			.text = arena_printf(arena, "no probe may be there: %s", why),
			.hint = "probe a function that calls it, or that it calls"
		};
	if (s.n_found > 1) {
		code.text = arena_printf(arena, "%u functions have that name", s.n_found);
		code.hint = "a kprobe takes none of them since Linux 6.6, and before, as a "
			    "trampoline, one of them";
		return code;
	}
	if (!s.n_twins)
		return code;
	code.has_twin = true;
	buf_init_in(&twins, arena);
	for (u32 i = 0; i < MIN(s.n_twins, TWINS_MAX); i++)
		buf_printf(&twins, "%s%s", i ? ", " : "", s.twins[i]);
	code.text = arena_printf(arena, "some callers call what the compiler has made of it: %s%s",
				 twins.at, s.n_twins > TWINS_MAX ? ", ..." : "");
	code.hint = "such calls are not seen; " WHICH_CALLERS;
	return code;
}
