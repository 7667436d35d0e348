/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A query's text -> its programs and state in memory, fed one event at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cat/cat.h"
#include "feed.h"
#include "opt/opt.h"
#include "plan/plan.h"
#include "sql/sql.h"
#include "../bind_select.h"
#include "sys/sys.h"

struct kernel_features feed_features;

static _Noreturn void give_up(struct feed *f, const char *step)
{
	struct buf out;

	buf_init(&out);
	diags_print(&f->diags, &out);
	fprintf(stderr, "%s: %s\n", step, out.at ? out.at : "");
	fail();
	abort();
}

void feed_init(struct feed *f)
{
	*f = (struct feed){ .rng = { env_number("EBQL_SEED", 1) } };
	arena_init(&f->arena);
	settings_init(&f->settings);
}

void feed_plan(struct feed *f, const char *sql, u32 n_cpus,
	       void (*change)(void *context, struct plan *plan), void *context)
{
	struct phys_input input = { .settings = &f->settings,
				    .features = &feed_features,
				    .n_cpus = n_cpus,
				    .is_replay = true,
				    .share = -1 };
	struct ast_script *script;
	struct plan *plan;

	diags_init(&f->diags, &f->arena, "query", sql, strlen(sql));
	f->catalog = catalog_open_snapshot(&f->arena, CATALOG_PATH, &f->diags);
	script = sql_parse(&f->arena, &f->diags);
	plan = diags_failed(&f->diags) ? NULL
				       : bind_select(script->statements.at[0].select, f->catalog,
						     &f->settings, NULL, &f->arena, &f->diags);
	if (!plan)
		give_up(f, "bind");
	if (change)
		change(context, plan);
	input.plan = opt_run(plan, &f->settings, &f->arena);
	input.catalog = f->catalog;
	f->set = phys_plan(&input, 1, &f->arena, &f->diags);
	f->phys = f->set ? f->set->parts[0] : NULL;
	if (!f->phys)
		give_up(f, "phys");
}

void feed_load(struct feed *f)
{
	const struct bpf_features bpf = { feed_features.has_signed_division };
	struct load_program *program = arena_new(&f->arena, struct load_program);
	const char *reason = NULL;
	struct buf constants, out;
	struct ir *ir;

	buf_init(&constants);
	assert_int_equal(f->set->n_hooks, 1);
	ir = gen_program(f->set, f->set->hooks, &f->arena, &constants);
	if (bpf_compile(ir, &f->arena, &bpf, &program->code, &reason))
		give_up(f, reason ? reason : ir_check(ir));
	if (load_open(&f->hooks, f->set, program, constants.at, constants.n, &f->arena,
		      &f->diags)) {
		buf_init(&out);
		diags_print(&f->diags, &out);
		/* The only refusal that lets the tests be skipped. */
		if (!strstr(out.at, "[no-privilege]"))
			give_up(f, "load");
		printf("SKIP: this kernel does not let us load programs\n");
		skip();
	}
	f->load = f->hooks.states;
	buf_free(&constants);
	event_init(&f->event);
	event_encode(&f->event, &f->arena, &f->rng);
}

void feed_close(struct feed *f)
{
	if (f->load)
		load_close(&f->hooks);
	catalog_close(f->catalog);
	arena_free(&f->arena);
}

void feed_set(struct feed *f, u32 column, const void *bytes)
{
	const struct column_info *info = &column_infos[column];

	memcpy(f->event.context + (info->is_header ? 0 : sizeof(struct replay_header)) +
		       info->offset_bytes,
	       bytes, info->size_bytes);
}

void feed_run(struct feed *f)
{
	u32 value;

	assert_int_equal(sys_prog_test_run(f->hooks.programs[0].fd, (void *)f->event.context,
					   f->event.context_bytes, 0, 0, &value),
			 0);
}

u8 *feed_slice(struct feed *f)
{
	return f->load->state + state_slice_offset(&f->phys->state, f->load->epoch, 0, 0);
}

int feed_set_up(void **state)
{
	kernel_features_probe(&feed_features);
	return 0;
}
