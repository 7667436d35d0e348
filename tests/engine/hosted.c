/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * As cli/run.c does it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/internal.h"
#include "hosted.h"

struct context {
	struct host host;
	struct sink sink;
};

static int take(void *context, const struct batch *batch)
{
	struct context *c = context;
	int err = c->sink.batch(c->sink.context, batch);

	host_count(c->host.flow, &c->host.options, batch, &c->host.n_given);
	return err;
}

int hosted_run(struct hosted *h)
{
	struct context context = { .sink = h->input.sink };
	struct flow_input input = h->input;
	struct host *host = &context.host;
	int err;

	input.sink = (struct sink){ .batch = take, .context = &context };
	input.cancel = host_cancel();
	assert_int_equal(host_open(host, &h->options), 0);
	err = engine_add(host->engine, &input, &host->flow);
	if (!err) {
		if (h->max_bytes)
			host->flow->max_bytes = h->max_bytes;
		err = host_run(host, input.diags);
		flow_result(host->flow, &h->result);
		flow_close(host->flow);
	}
	host_close(host);
	h->child_status = host->child.status;
	return err;
}
