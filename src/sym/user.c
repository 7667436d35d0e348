/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One address of a process -> its name, for usym(), which SQLite calls: for all queries of ours,
 * and on any thread.
 */
#include "sym/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct namer *namer; /* of processes alone; NULL: of none yet, or there is no memory */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool open_namer(void)
{
	if (namer)
		return true;
	namer = calloc(1, sizeof(*namer));
	if (!namer)
		return false;
	arena_init(&namer->arena);
	buf_init(&namer->texts);
	return true;
}

bool sym_user_name(u32 pid, u64 address, char *room, u32 n_bytes)
{
	struct process *process;
	bool is_named = false;

	pthread_mutex_lock(&lock);
	process = pid && open_namer() ? process_of(namer, pid, &address, 1) : NULL;
	if (process) {
		buf_reset(&namer->texts);
		process_name(namer, process, address, &namer->texts);
		is_named = namer->texts.n > 0 && !namer->texts.is_cut;
	}
	if (is_named) {
		u32 n = MIN((u32)namer->texts.n, n_bytes - 1);

		memcpy(room, namer->texts.at, n);
		room[n] = '\0';
	}
	pthread_mutex_unlock(&lock);
	return is_named;
}

void sym_user_look(u32 pid)
{
	pthread_mutex_lock(&lock);
	if (pid && open_namer())
		process_look(namer, pid);
	pthread_mutex_unlock(&lock);
}
