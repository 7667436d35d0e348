/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A function's entry or return -> the hook that reads it: a trampoline (fentry, fexit) where the
 * kernel takes one there, which costs least and has the arguments at the return as well; else a
 * kprobe or kretprobe.
 */
#include <linux/version.h>

#include "phys/internal.h"

struct reading {
	const struct stream *stream;
	u32 source;
	const char *argument; /* one that is read, or NULL */
};

static void note_argument(void *context, struct expr *e)
{
	struct reading *r = context;

	if (e->kind != EXPR_FIELD || e->source != r->source)
		return;
	for (u32 i = 0; i < r->stream->n_fields; i++)
		if (!strcmp(r->stream->fields[i].name, e->name) &&
		    r->stream->fields[i].kind == FIELD_ARG)
			r->argument = e->name;
}

const char *phys_why_no_trampoline(const struct kernel_features *features, u32 btf,
				   u32 function_btf_id, bool has_return,
				   enum setting_access setting)
{
	const char *why_not;

	if (!features->why_no_trampoline)
		return NULL;
	why_not = features->why_no_trampoline(btf, function_btf_id, false);
	if (!why_not && has_return)
		why_not = features->why_no_trampoline(btf, function_btf_id, true);
	/* Its guard against recursion takes a preempted program for one (counted as missed). */
	if (!why_not && setting != ACCESS_ONLY_FENTRY && features->preempts_fully())
		why_not = "this kernel preempts programs of trampolines, and then skips others";
	return why_not;
}

/* NULL: it is; else why it is not. */
static const char *why_no_trampoline(const struct stream *s, const struct kernel_features *features,
				     enum setting_access setting, u32 *ret_btf)
{
	const char *why_not = NULL;

	*ret_btf = 0;
	if (setting == ACCESS_ONLY_KPROBE)
		return "SET access_path = kprobe";
	if (s->function_offset_bytes)
		return "it is a place within a function";
	if (!s->function_btf_id)
		return "BTF does not know the function";
	/* Kernels before 6.6 pass on what is in registers (commit 473e3150e30a). */
	if (s->function_words > 6 && features->version < KERNEL_VERSION(6, 6, 0))
		return "it has more arguments than this kernel's trampolines pass on";
	if (s->module && features->why_no_module)
		why_not = features->why_no_module(s->module, ret_btf);
	/* Both: a span needs the same at either end. */
	return why_not
		       ?: phys_why_no_trampoline(features, *ret_btf, s->function_btf_id, true,
						 setting);
}

/* What a kretprobe does not know, must not be asked for. */
static bool has_its_fields(const struct phys_input *input, const struct phys_source *source,
			   const struct stream *s, const char *why_not, struct diags *diags)
{
	struct reading reading = { .stream = s, .source = source->number };

	plan_each_node((struct plan *)input->plan, note_argument, &reading);
	if (s->is_return && reading.argument)
		return diag_refuse(diags, "no-arguments", input->plan->span,
				   "%s: a kretprobe does not know the arguments (%s), and %s" HINT
				   "function:%s has the arguments of the entry beside ret",
				   s->name, reading.argument, why_not, s->event);
	return true;
}

bool phys_function_hook(const struct phys_input *input, const struct phys_source *source,
			const struct stream *s, struct arena *arena, struct diags *diags,
			struct hook *ret_hook)
{
	enum setting_access setting = input->settings->access_path;
	const char *why_not;
	u32 btf;

	why_not = why_no_trampoline(s, input->features, setting, &btf);
	*ret_hook = (struct hook){ .path = why_not ? ACCESS_KPROBE : ACCESS_TRAMPOLINE,
				   .is_exit = s->is_return,
				   .is_typed = !why_not,
				   .is_insisted = setting == ACCESS_ONLY_FENTRY,
				   .is_fallback = why_not && setting == ACCESS_AUTO &&
						  !s->function_offset_bytes,
				   .attach_btf_id = s->function_btf_id,
				   .attach_btf = btf,
				   .offset_bytes = s->function_offset_bytes };
	if (!why_not) {
		ret_hook->reason =
			s->module
				? arena_printf(arena,
					       "a trampoline costs least, and the kernel takes one "
					       "there, in the module %s",
					       s->module)
				: "a trampoline costs least, and the kernel takes one there";
		return true;
	}
	if (setting == ACCESS_ONLY_FENTRY)
		return diag_refuse(diags, "no-trampoline", input->plan->span,
				   "%s cannot be read by a trampoline: %s" HINT
				   "SET access_path = auto",
				   s->name, why_not);
	ret_hook->reason = arena_printf(arena, "by a kprobe: %s%s", why_not,
					input->features->version < KERNEL_VERSION(6, 7, 0)
						? "; what it misses this kernel does not tell"
						: "");
	return has_its_fields(input, source, s, why_not, diags);
}

bool phys_functions_hook(const struct phys_input *input, const struct phys_source *source,
			 struct arena *arena, struct diags *diags, struct hook *ret_hook)
{
	const struct kernel_features *features = input->features;
	const struct stream_list *list = source->streams;
	bool has_multi = !features->has_kprobe_multi || features->has_kprobe_multi();

	if (input->settings->access_path == ACCESS_ONLY_FENTRY)
		return diag_refuse(diags, "no-trampoline", input->plan->span,
				   "%s cannot be read by a trampoline: there would be one for each "
				   "function" HINT "SET access_path = auto",
				   list->pattern);
	*ret_hook = (struct hook){
		.path = has_multi ? ACCESS_KPROBE_MULTI : ACCESS_KPROBE,
		.is_fallback = !has_multi,
		/* From there on a return has the registers that the function graph's tracer keeps
		 * (commits a3ed4157b7d8, 4346ba160409). */
		.hides_frame = has_multi && features->version >= KERNEL_VERSION(6, 14, 0),
		.is_exit = list->streams.at[0]->is_return,
		.target = arena_strdup(arena, list->pattern),
		.names = arena_array(arena, const char *, list->streams.n),
		.reason = arena_printf(arena, "%u functions, %s", list->streams.n,
				       has_multi ? "by one link"
						 : "one after the other: this kernel has no links "
						   "for many")
	};
	for (u32 i = 0; i < list->streams.n; i++)
		ret_hook->names[ret_hook->n_places++] =
			arena_strdup(arena, list->streams.at[i]->event);
	ret_hook->n_names = ret_hook->n_places;
	return has_its_fields(input, source, list->streams.at[0], "this is a wildcard", diags);
}
