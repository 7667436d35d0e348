/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two answers -> the first aspect in which they differ: exit status and diagnostic, names,
 * types, values, printed form, counts, losses.  Where a difference is right, the table of
 * exemptions says why, and counts how often that was needed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "out/out.h"
#include "random.h"

const char *const aspect_names[ASPECT_N] = {
	[ASPECT_STATUS] = "exit status", [ASPECT_NAMES] = "names",     [ASPECT_TYPES] = "types",
	[ASPECT_ROWS] = "rows",		 [ASPECT_PRINTED] = "printed", [ASPECT_COUNTS] = "counts",
	[ASPECT_LOSSES] = "losses",
};

/* --- Printed forms --- */

static const char *const formats[PRINTED_N] = { "csv", "json", "table" };

struct printer {
	struct arena *arena;
	const struct schema *schema;
	struct out_file outs[PRINTED_N];
};

/* What was written since the last call. */
static struct value take_text(struct printer *printer, u32 i)
{
	int fd = printer->outs[i].fd;
	off_t n = lseek(fd, 0, SEEK_CUR);
	char *text = arena_alloc(printer->arena, (size_t)n + 1);

	BUG_ON(n < 0 || pread(fd, text, (size_t)n, 0) != n || lseek(fd, 0, SEEK_SET));
	return (struct value){ .kind = VALUE_TEXT, .text = text, .n = (u32)n };
}

/* What stands before the first row is not a row's. */
struct printer *printer_open(const struct schema *schema, struct arena *arena)
{
	const struct batch none = { .schema = schema, .other_row = -1 };
	struct printer *printer = arena_new(arena, struct printer);

	printer->arena = arena;
	printer->schema = schema;
	for (u32 i = 0; i < PRINTED_N; i++) {
		int fd = memfd_create("printed", MFD_CLOEXEC);

		BUG_ON(fd < 0);
		out_file_open(&printer->outs[i], out_format_find(formats[i]), fd,
			      &(struct out_options){ 0 }, schema);
		BUG_ON(out_file_batch(&printer->outs[i], &none));
		take_text(printer, i);
	}
	return printer;
}

void printer_row(struct printer *printer, const struct value *row, struct value *ret_texts)
{
	const struct batch batch = { .schema = printer->schema,
				     .n_rows = 1,
				     .values = (struct value *)row,
				     .other_row = -1 };

	for (u32 i = 0; i < PRINTED_N; i++) {
		BUG_ON(out_file_batch(&printer->outs[i], &batch));
		ret_texts[i] = take_text(printer, i);
	}
}

void printer_close(struct printer *printer)
{
	for (u32 i = 0; i < PRINTED_N; i++) {
		int fd = printer->outs[i].fd;

		out_file_close(&printer->outs[i], 0);
		close(fd);
	}
}

/* --- What may differ --- */

enum {
	EXEMPT_CSV_TYPES,
	EXEMPT_COUNTS,
	EXEMPT_HOPPING,
	EXEMPT_LEFT_OUT,
	EXEMPT_NARROWER,
	EXEMPT_FAULTS,
	EXEMPT_LENGTH,
	EXEMPT_STREAM,
	EXEMPT_OPERAND,
	EXEMPT_MATCHED,
	EXEMPT_BRANCH,
	EXEMPT_LARGE,
	KNOWN_SCALAR,
};

struct exemption exemptions[] = {
	[EXEMPT_CSV_TYPES] = { "csv-types",
			       "a CSV file says integer, real or text and no more, so the types of "
			       "what is computed of it, and their printed form, are others" },
	[EXEMPT_COUNTS] = { "counts-of-parts",
			    "each part counts what it sees, and one way has more parts than another" },
	[EXEMPT_HOPPING] = { "hopping",
			     "windows that overlap count what has no partner as often, and a recording "
			     "has fewer of them" },
	[EXEMPT_LEFT_OUT] = { "unpaired-left-out",
			      "a rule leaves out a LEFT join that nothing reads, or tests keys below a "
			      "join: what does not come to it is not unpaired" },
	[EXEMPT_NARROWER] = { "narrower-quantiles",
			      "what such a rule leaves out does not widen quantiles, nor move their "
			      "estimates" },
	[EXEMPT_LENGTH] = { "length-of-texts",
			    "a recording's texts are as long as its longest: top_k() takes them" },
	[EXEMPT_STREAM] = { "end-of-stream",
			    "single events of a stream have no end, so they cannot be sorted, nor "
			    "counted from; recorded ones can" },
	[EXEMPT_FAULTS] = { "number-of-faults",
			    "a fault counts as often as it is computed: SQLite computes an expression "
			    "again wherever it stands, a NULL spares the kernel the other operand" },
	[EXEMPT_OPERAND] = { "spared-faults",
			     "of x + y with x NULL the kernel does not compute y, and what it streams "
			     "counts a fault where it is read: user space computes both" },
	[EXEMPT_MATCHED] = { "conditions-of-user-space",
			     "`matched` is of the conditions that a part tests: behind one of user "
			     "space none that may fault, which a text of a live event may" },
	[EXEMPT_BRANCH] = { "events-left-out",
			    "events of a union's branch that a rule finds to be of no row are not "
			    "asked for" },
	[EXEMPT_LARGE] = { "too-large",
			   "where SQLite computes with them, printf() of 2^63 and more, sums below "
			   "-2^63 and arguments of more than 64 bits end the run" },
	[KNOWN_SCALAR] = { "scalar-statistic",
			   "a quantile of a nested select is aggregated by the kernel also where no "
			   "row asks for it, and widened by the losses of other parts",
			   .is_known = true },
};

const u32 n_exemptions = ARRAY_SIZE(exemptions);

static bool is_csv(const struct way_options *way)
{
	return way->way == WAY_FILE && way->file == FILE_CSV;
}

static bool has_rules(const struct way_options *way)
{
	return way->way == WAY_KERNEL && strcmp(way->rules_off, "all") != 0;
}

static bool is_exempt(u32 which, bool applies)
{
	static s32 is_strict = -1;

	if (is_strict < 0)
		is_strict = getenv("EBQL_STRICT") != NULL;
	applies &= !is_strict || !exemptions[which].is_known;
	exemptions[which].n_used += applies;
	return applies;
}

/* --- Comparing --- */

static struct account account_of(const struct result *result)
{
	struct account account = { 0 };

	memcpy(account.lost, result->lost, sizeof(account.lost));
	memcpy(account.unpaired, result->unpaired, sizeof(account.unpaired));
	return account;
}

u32 answer_status(const struct result *result)
{
	struct account account = account_of(result);

	return account_is_biased(&account) ? 3 : 0;
}

/*
 * Without the windows that a recording does not reach.  What has no partner stays: it is told with
 * the last window, which is another one.
 */
static void keep_windows(struct answer *answer, u64 first, u64 last)
{
	struct result *result = &answer->result;
	u32 n = result->n_columns, kept = 0;

	for (u32 i = 0; i < result->n_rows; i++) {
		u64 number = (u64)result->values[(size_t)i * n].integer;

		if (number < first || number > last)
			continue;
		memmove(result->values + (size_t)kept++ * n, result->values + (size_t)i * n,
			n * sizeof(struct value));
	}
	result->n_rows = kept;
	for (u32 i = 0; i < answer->n_accounts; i++) {
		const struct account *account = &answer->accounts[i].account;

		if (answer->accounts[i].number >= first && answer->accounts[i].number <= last)
			continue;
		result->events -= account->events;
		result->matched -= account->matched;
		for (u32 k = 0; k < LOSS_N; k++)
			result->lost[k] -= k == LOSS_UNPAIRED ? 0 : account->lost[k];
	}
	answer->status = answer_status(result);
}

static bool is_of_files(const struct oracle_query *query, const struct way_options *way)
{
	return way->way == WAY_FILE && query->shape != SHAPE_NONE && query->shape != SHAPE_COUNT;
}

static void keep_common(const struct oracle_query *query, struct answer *a,
			const struct way_options *b_way, const struct answer *b)
{
	if (b->has_bounds || is_of_files(query, b_way))
		keep_windows(a, b->first_window, b->last_window);
}

static bool same_names(const struct schema *a, const struct schema *b)
{
	for (u32 i = 0; i < a->n_columns && i < b->n_columns; i++)
		if (strcmp(a->columns[i].name, b->columns[i].name) != 0)
			return false;
	return a->n_columns == b->n_columns;
}

enum likeness { LIKE_KIND, LIKE_EXACT };

/*
 * How long a text may be is not compared: a recording knows only the longest that it holds.
 * KIND: integers of all widths are one.
 */
static bool same_type(struct type a, struct type b, enum likeness likeness)
{
	if (a.kind != b.kind || (a.kind >= TYPE_HISTOGRAM && a.of != b.of))
		return false;
	return a.kind != TYPE_INT || likeness < LIKE_EXACT ||
	       (a.bits == b.bits && a.is_signed == b.is_signed);
}

static bool same_types(const struct answer *a, const struct answer *b, enum likeness likeness)
{
	for (u32 i = 0; i < a->schema.n_columns; i++)
		if (!same_type(a->schema.columns[i].type, b->schema.columns[i].type, likeness))
			return false;
	return true;
}

/* The types are the same, or may differ; *ret_is_kind: only as integers differ. */
static bool types_agree(const struct way_options *a_way, const struct answer *a,
			const struct way_options *b_way, const struct answer *b, bool *ret_is_kind)
{
	*ret_is_kind = same_types(a, b, LIKE_KIND);
	return same_types(a, b, LIKE_EXACT) ||
	       is_exempt(EXEMPT_CSV_TYPES, is_csv(a_way) || is_csv(b_way));
}

/* Columns [first, first + n) of all rows. */
static bool same_values(const struct result *a, const struct result *b, u32 first, u32 n)
{
	for (u32 i = 0; i < a->n_rows; i++)
		for (u32 k = first; k < first + n; k++)
			if (value_compare(&a->values[(size_t)i * a->n_columns + k],
					  &b->values[(size_t)i * b->n_columns + k]))
				return false;
	return true;
}

/* Of a branch with real numbers SQLite gives the others as integers. */
static void make_real(struct answer *answer, const struct schema *schema)
{
	u32 n = answer->result.n_columns;

	for (u32 i = 0; i < answer->result.n_rows; i++)
		for (u32 k = 1; k < n && k <= schema->n_columns; k++) {
			struct value *v = &answer->result.values[(size_t)i * n + k];

			if (v->kind == VALUE_INT && schema->columns[k - 1].type.kind == TYPE_REAL)
				*v = (struct value){ .kind = VALUE_REAL,
						     .real = (double)v->integer };
		}
}

/* A rule left something out before it looked for a partner: of no kind more are unpaired. */
static bool leaves_out(const struct way_options *a_way, const struct answer *a,
		       const struct way_options *b_way, const struct answer *b)
{
	const struct result *with = &(has_rules(a_way) ? a : b)->result;
	const struct result *without = &(has_rules(a_way) ? b : a)->result;

	for (u32 i = 0; i < UNPAIRED_N; i++)
		if (with->unpaired[i] > without->unpaired[i])
			return false;
	return has_rules(a_way) != has_rules(b_way);
}

static u64 lost_values(const struct result *result)
{
	struct account account = account_of(result);

	return account_lost_values(&account);
}

static bool are_quantiles_narrower(const struct oracle_query *query,
				   const struct way_options *a_way, const struct answer *a,
				   const struct way_options *b_way, const struct answer *b)
{
	bool has_quantile =
		query->has_statistic || phrase_traits(query->text) >> TRAIT_QUANTILE & 1;

	return has_quantile && leaves_out(a_way, a, b_way, b) &&
	       lost_values(&a->result) != lost_values(&b->result);
}

static bool is_branch_left_out(const struct oracle_query *query, const struct way_options *a_way,
			       const struct answer *a, const struct way_options *b_way,
			       const struct answer *b)
{
	bool is_of_a = a->result.events < b->result.events;
	u32 n = is_of_a ? a->n_sources : b->n_sources, m = is_of_a ? b->n_sources : a->n_sources;

	return phrase_traits(query->text) >> TRAIT_UNION_OF_STREAMS & 1 && (n < m || (n && !m)) &&
	       a->result.matched == b->result.matched && has_rules(is_of_a ? a_way : b_way);
}

static bool same_unpaired(const struct oracle_query *query, const struct way_options *a_way,
			  const struct answer *a, const struct way_options *b_way,
			  const struct answer *b)
{
	const struct result *x = &a->result, *y = &b->result;

	return (!memcmp(x->unpaired, y->unpaired, sizeof(x->unpaired)) &&
		x->lost[LOSS_UNPAIRED] == y->lost[LOSS_UNPAIRED]) ||
	       is_exempt(EXEMPT_LEFT_OUT, leaves_out(a_way, a, b_way, b)) ||
	       is_exempt(EXEMPT_HOPPING,
			 query->shape == SHAPE_HOPPING &&
				 (is_of_files(query, a_way) || is_of_files(query, b_way)));
}

static bool same_losses(const struct oracle_query *query, const struct way_options *a_way,
			const struct answer *a, const struct way_options *b_way,
			const struct answer *b)
{
	u64 n = a->result.lost[LOSS_FAULT], m = b->result.lost[LOSS_FAULT];

	for (u32 i = 0; i < LOSS_N; i++)
		if (i != LOSS_UNPAIRED && i != LOSS_FAULT &&
		    a->result.lost[i] != b->result.lost[i] &&
		    !is_exempt(KNOWN_SCALAR, i == LOSS_NEGATIVE && query->has_statistic))
			return false;
	return (n == m || is_exempt(EXEMPT_FAULTS, n && m && !query->counts_faults) ||
		is_exempt(EXEMPT_OPERAND, a_way->way == WAY_KERNEL && b_way->way != WAY_KERNEL &&
						  n < m && query->spares_faults)) &&
	       same_unpaired(query, a_way, a, b_way, b);
}

static bool same_status(const struct oracle_query *query, const struct way_options *a_way,
			const struct answer *a, const struct way_options *b_way,
			const struct answer *b)
{
	if (a->error)
		return strcmp(a->summary, b->summary) == 0;
	return a->status == b->status || same_losses(query, a_way, a, b_way, b);
}

/* SQLite counts no faults; but where every division is guarded there are none. */
static bool same_as_without_faults(const struct oracle_query *query, const struct answer *answer)
{
	return query->may_fault || !answer->result.lost[LOSS_FAULT];
}

static struct answer copy_answer(const struct answer *answer, struct arena *arena)
{
	const struct result *result = &answer->result;
	size_t bytes = (size_t)result->n_rows * result->n_columns * sizeof(struct value);
	struct answer copy = *answer;

	copy.result.values = arena_alloc(arena, bytes + 1);
	if (bytes)
		memcpy(copy.result.values, result->values, bytes);
	return copy;
}

static bool has_error(const struct answer *a, const struct answer *b, const char *part)
{
	return (a->error && strstr(a->error, part)) || (b->error && strstr(b->error, part));
}

static enum aspect differ(const struct oracle_query *query, const struct way_options *a_way,
			  struct answer *a, const struct way_options *b_way, struct answer *b)
{
	bool is_sqlite = a_way->way == WAY_SQLITE || b_way->way == WAY_SQLITE, is_kind = true;
	u32 n = a->schema.n_columns;

	if (is_exempt(EXEMPT_LARGE, has_error(a, b, "[too-large]")) ||
	    is_exempt(EXEMPT_STREAM, has_error(a, b, "OFFSET over single events")) ||
	    is_exempt(EXEMPT_STREAM, has_error(a, b, "[order-of-stream]")) ||
	    is_exempt(EXEMPT_LENGTH, has_error(a, b, "of a text of more than")))
		return ASPECT_N;
	keep_common(query, a, b_way, b);
	keep_common(query, b, a_way, a);
	if (!a->error != !b->error || (!is_sqlite && !same_status(query, a_way, a, b_way, b)))
		return ASPECT_STATUS;
	if (a->error)
		return ASPECT_N;
	if (is_sqlite)
		make_real(a, &b->schema);
	if (!query->is_ordered) {
		result_sort(&a->result);
		result_sort(&b->result);
	}
	if (!(is_sqlite && query->has_own_names) && !same_names(&a->schema, &b->schema))
		return ASPECT_NAMES;
	if (!is_sqlite && !types_agree(a_way, a, b_way, b, &is_kind))
		return ASPECT_TYPES;
	if (a->result.n_rows != b->result.n_rows || !same_values(&a->result, &b->result, 0, n + 1))
		return is_exempt(KNOWN_SCALAR, query->has_statistic && lost_values(&a->result)) ||
				       is_exempt(EXEMPT_NARROWER,
						 are_quantiles_narrower(query, a_way, a, b_way, b))
			       ? ASPECT_N
			       : ASPECT_ROWS;
	if (is_sqlite)
		return same_as_without_faults(query, b) ? ASPECT_N : ASPECT_LOSSES;
	/* What is lost may have been as small as the type goes. */
	if (is_kind && !same_values(&a->result, &b->result, n + 1, PRINTED_N) &&
	    !is_exempt(EXEMPT_CSV_TYPES, (is_csv(a_way) || is_csv(b_way)) &&
						 phrase_traits(query->text) >> TRAIT_QUANTILE & 1 &&
						 lost_values(&a->result)))
		return ASPECT_PRINTED;
	if ((a->result.events != b->result.events || a->result.matched != b->result.matched) &&
	    !is_exempt(EXEMPT_COUNTS, a->n_parts > 1 || b->n_parts > 1) &&
	    !is_exempt(EXEMPT_MATCHED,
		       a->result.events == b->result.events && a_way->way != b_way->way) &&
	    !is_exempt(EXEMPT_BRANCH, is_branch_left_out(query, a_way, a, b_way, b)))
		return ASPECT_COUNTS;
	return same_losses(query, a_way, a, b_way, b) ? ASPECT_N : ASPECT_LOSSES;
}

enum aspect answers_differ(const struct oracle_query *query, const struct way_options *a_way,
			   const struct answer *a, const struct way_options *b_way,
			   const struct answer *b, struct arena *arena)
{
	struct answer x = copy_answer(a, arena), y = copy_answer(b, arena);

	return differ(query, a_way, &x, b_way, &y);
}

/* --- Showing --- */

static void print_account(const struct result *result, struct buf *out)
{
	buf_printf(out, "    events %llu, matched %llu", (unsigned long long)result->events,
		   (unsigned long long)result->matched);
	for (u32 i = 0; i < LOSS_N; i++)
		if (result->lost[i])
			buf_printf(out, ", %s %llu", loss_names[i],
				   (unsigned long long)result->lost[i]);
	for (u32 i = 0; i < UNPAIRED_N; i++)
		if (result->unpaired[i])
			buf_printf(out, ", unpaired %s %llu", unpaired_names[i],
				   (unsigned long long)result->unpaired[i]);
	buf_putc(out, '\n');
}

void answer_print(const struct answer *answer, struct buf *out)
{
	if (answer->error) {
		buf_printf(out, "    %s\n", answer->error);
		return;
	}
	buf_printf(out, "    status %u:", answer->status);
	for (u32 i = 0; i < answer->schema.n_columns; i++) {
		buf_printf(out, "%s %s ", i ? "," : "", answer->schema.columns[i].name);
		type_print(answer->schema.columns[i].type, out);
	}
	buf_putc(out, '\n');
	result_print(&answer->result, out);
	print_account(&answer->result, out);
}
