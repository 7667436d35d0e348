/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The command line of a run -> struct options, with one clear message for what
 * is wrong in it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/options.h"
#include "cli/query.h"

void options_help(FILE *out)
{
	fputs("usage: ebql [options] 'SQL' [-- COMMAND ARGS...]\n"
	      "       ebql [options]        reads statements: a shell, on a terminal\n"
	      "       ebql record -o FILE [options] 'SQL' [-- COMMAND ARGS...]\n"
	      "       ebql explain | list | describe | doctor | version | help\n"
	      "\n"
	      "Runs a streaming SQL query over kernel events.\n"
	      "  -f, --file FILE       read the query from FILE (- for standard input)\n"
	      "  -o, --output FORMAT   table, expanded, json, csv or heatmap;\n"
	      "                        of single events also arrow or jsonl\n"
	      "      --heatmap         short for -o heatmap: time across, histogram(x) upwards\n"
	      "      --bins N          at most N bars a histogram; also sqrt or sturges\n"
	      "      --ascii           bars and heat map in ASCII\n"
	      "  -d, --duration TIME   stop after TIME (10s, 500ms)\n"
	      "  -n, --windows N       stop after N windows, snapshots, or streamed rows\n"
	      "      --every TIME      without WINDOW: print running totals each TIME\n"
	      "  -p, --pid PID         the process that target_pid() stands for\n"
	      "  -v, --verbose         say what was chosen and what it costs, on stderr\n"
	      "  -- COMMAND ARGS...    start COMMAND when all is attached, end with it;\n"
	      "                        target_pid() is its process\n"
	      "\n"
	      "  ebql list 'sched*'                        which streams there are\n"
	      "  ebql describe tracepoint:sched:sched_switch   which columns they have\n"
	      "  ebql doctor                               what this machine allows\n"
	      "\n"
	      "Exit status: 0 clean, 1 failed, 2 wrong query or usage, 3 losses may bias the answer.\n",
	      out);
}

bool options_duration(const char *text, u64 *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1e9 },  { "ns", 1 },   { "us", 1e3 },  { "ms", 1e6 },
		      { "s", 1e9 }, { "m", 6e10 }, { "h", 3.6e12 } };
	char *end;
	double number = strtod(text, &end);

	if (end == text || !(number > 0))
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		if (!(number * units[i].ns < 3e17))
			return false;
		*ret_ns = (u64)(number * units[i].ns + 0.5);
		return *ret_ns > 0;
	}
	return false;
}

static bool take_number(const char *text, u64 highest, u64 *ret)
{
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);

	if (errno || end == text || *end || text[0] == '-' || n == 0 || n > highest)
		return false;
	*ret = n;
	return true;
}

static int wrong(const char *what, const char *value, const char *hint)
{
	fprintf(stderr, "ebql: %s: \"%s\" %s\n", what, value, hint);
	return 2;
}

static bool take_bins(const char *text, u32 *ret_bins)
{
	u64 n = 0;

	if (strcmp(text, "sqrt") == 0)
		n = OUT_BINS_SQRT;
	else if (strcmp(text, "sturges") == 0)
		n = OUT_BINS_STURGES;
	else if (!take_number(text, 1000000, &n))
		return false;
	*ret_bins = (u32)n;
	return true;
}

static int take_option(struct options *o, int c, const char *arg, char **argv)
{
	u64 n;

	switch (c) {
	case 'f':
		o->file = arg;
		return -1;
	case 'o':
		o->format = out_format_find(arg);
		o->has_format = true;
		return o->format
			       ? -1
			       : wrong("-o", arg,
				       "is no format: table, expanded, json, csv, heatmap, arrow or "
				       "jsonl");
	case 'd':
		return options_duration(arg, &o->host.duration_ns)
			       ? -1
			       : wrong("-d", arg, "is no duration such as 10s or 500ms");
	case 'e':
		return options_duration(arg, &o->every_ns)
			       ? -1
			       : wrong("--every", arg, "is no duration such as 1s");
	case 'n':
		return take_number(arg, UINT64_MAX, &o->host.n_windows)
			       ? -1
			       : wrong("-n", arg, "is no whole number from 1");
	case 'p':
		if (!take_number(arg, 1 << 22, &n))
			return wrong("-p", arg, "is no process id");
		o->target_pid = (int)n;
		return -1;
	case 'H':
		o->is_heatmap = true;
		return -1;
	case 'b':
		return take_bins(arg, &o->bins)
			       ? -1
			       : wrong("--bins", arg, "is no whole number from 1, sqrt or sturges");
	case 'a':
		o->is_ascii = true;
		return -1;
	case 'v':
		o->is_verbose = true;
		return -1;
	case 'h':
		options_help(stdout);
		return 0;
	default:
		complain_option(c, argv);
		fputs("  hint: \"ebql help\" shows the options\n", stderr);
		return 2;
	}
}

/* The query is the one argument before "--", or stands in the file. */
static int take_text(struct options *o, int argc, char **argv, int at, const char *text)
{
	int error;

	if (!o->file && !text && at < argc)
		text = argv[at++];
	if (!o->file && !text && !o->command) {
		o->is_shell = true;
		o->file = "query";
		return -1;
	}
	if (!o->file && !text) {
		options_help(stderr);
		return 2;
	}
	if (!o->file) {
		buf_puts(&o->text, text);
		text = NULL;
		o->file = "query";
	} else {
		error = query_read_file(o->file, &o->text);
		if (error) {
			fprintf(stderr, "ebql: %s: %s\n", o->file, strerror(-error));
			return 2;
		}
	}
	if (text || at < argc)
		return wrong("too many arguments", text ? text : argv[at],
			     "(put the query in quotes, and a command behind --)");
	return -1;
}

const char *options_take_comment(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		char *arg = argv[i];

		if (strncmp(arg, "--", 2) != 0 || !arg[2] ||
		    (!strchr(" \t\r", arg[2]) && !strchr(arg, '\n')))
			continue;
		memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i - 1) * sizeof(*argv));
		(*argc)--;
		return arg;
	}
	return NULL;
}

int options_parse(struct options *o, int argc, char **argv)
{
	static const struct option long_options[] = { { "file", required_argument, NULL, 'f' },
						      { "output", required_argument, NULL, 'o' },
						      { "duration", required_argument, NULL, 'd' },
						      { "windows", required_argument, NULL, 'n' },
						      { "every", required_argument, NULL, 'e' },
						      { "pid", required_argument, NULL, 'p' },
						      { "heatmap", no_argument, NULL, 'H' },
						      { "bins", required_argument, NULL, 'b' },
						      { "ascii", no_argument, NULL, 'a' },
						      { "verbose", no_argument, NULL, 'v' },
						      { "help", no_argument, NULL, 'h' },
						      { NULL, 0, NULL, 0 } };
	const char *text;
	int c, status;

	memset(o, 0, sizeof(*o));
	buf_init(&o->text);
	o->format = out_format_find("table");
	o->target_pid = -1;
	o->host.child_pid = -1;
	o->host.child_go_fd = -1;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		o->command = &argv[i + 1];
		argc = i;
		if (!*o->command) {
			fputs("ebql: there is no command behind --\n", stderr);
			return 2;
		}
	}
	text = options_take_comment(&argc, argv);
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":f:o:d:n:p:vh", long_options, NULL)) != -1) {
		status = take_option(o, c, optarg, argv);
		if (status >= 0)
			return status;
	}
	if (o->is_heatmap && o->has_format && strcmp(o->format->name, "heatmap") != 0)
		return wrong("--heatmap", o->format->name,
			     "is another format; give one of the two");
	if (o->is_heatmap)
		o->format = out_format_find("heatmap");
	if (o->command && o->target_pid >= 0) {
		fputs("ebql: -p and -- COMMAND both name a target; give one\n", stderr);
		return 2;
	}
	return take_text(o, argc, argv, optind, text);
}
