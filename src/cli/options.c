/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The command line of a subcommand -> struct options, with one clear message for what is wrong
 * in it.  The table of options is also what the help prints.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/library.h"
#include "cli/options.h"
#include "file/file.h"

#define QUERY_BYTES_MAX (64u << 20)

static const struct option_info {
	char letter; /* lower case, and O: the short form too */
	const char *name, *argument;
	const char *help, *more; /* NULL: not in the help of a run; its second line */
	const char *wrong;	 /* said of a value that is none */
} option_infos[] = {
	{ 'e', "execute", "SQL", "the query, as without -e; also -c; may be several" },
	{ 'c', "command", "SQL" },
	{ 'f', "file", "FILE", "read the query from FILE (- for standard input)",
	  .wrong = "is a second text; give one of the two" },
	{ 'o', "output", "FORMAT", "table, expanded, line, json, csv, heatmap or arrow;",
	  "of stacks folded, flamegraph; of single events jsonl",
	  "is no format: table, expanded, line, json, csv, heatmap, arrow, folded, "
	  "flamegraph or jsonl" },
	{ 'O', "output-file", "FILE", "where results go; messages stay on standard error" },
	{ 'H', "heatmap", NULL, "as -o heatmap: time across, histogram(x) upwards" },
	{ 'B', "bins", "N", "at most N bars a histogram; also sqrt or sturges",
	  .wrong = "is no whole number from 1, sqrt or sturges" },
	{ 'A', "ascii", NULL, "bars and heat map in ASCII" },
	{ 'W', "window-columns", NULL, "csv, json: rows carry their window's bounds" },
	{ 'd', "duration", "TIME", "stop after TIME (10s, 500ms)",
	  .wrong = "is no duration such as 10s, 500ms, 2h, 7d or 1.5 (seconds)" },
	{ 'n', "windows", "N", "stop after N windows, snapshots, or streamed rows",
	  .wrong = "is no whole number from 1" },
	{ 'P', "partial", NULL, "-n counts the windows at the run's ends, too" },
	{ 'E', "every", "TIME", "without WINDOW: print running totals each TIME",
	  .wrong = "is no duration such as 10s, 500ms, 2h, 7d or 1.5 (seconds)" },
	{ 'p', "pid", "PID", "the process that target_pid() and :pid stand for",
	  .wrong = "is no process id" },
	{ 'V', "set", "NAME=VALUE", "the value of the query's :NAME", .wrong = "is no NAME=VALUE" },
	{ 'v', "verbose", NULL, "say what was chosen and what it costs, on stderr" },
	{ 'M', "stats", NULL, "say at the end what it cost and did, on stderr" },
	{ 'U', "audit", "FILE", "each load, reload and unload: to FILE and the log" },
	{ 'q', "quiet", NULL, "say nothing on stderr but errors and losses" },
	{ 'R', "no-rc", NULL, "the shell does not read ~/.config/ebql/rc" },
	{ 'S', "stage", "STAGE" },
	{ 'C', "catalog", "FILE" },
	{ 'T', "status", NULL, "ask the one that runs what each query does, and costs" },
	{ 'X', "fixed", NULL, "do not look at the files again, and give all rights up" },
	{ 'L', "show" },
	{ 'Y', "allow-payload", NULL, "queries may show what stands in programs' memory" },
	{ 'K', "socket", "PATH", "where --status asks" },
	{ 'h', "help" },
};

static bool has_short(const struct option_info *info)
{
	return info->letter >= 'a' || info->letter == 'O';
}

static void put_option(struct buf *out, const struct option_info *info)
{
	char word[40];

	snprintf(word, sizeof(word), "%s%s%s", info->name, info->argument ? " " : "",
		 info->argument ?: "");
	if (has_short(info))
		buf_printf(out, "  -%c, --%-18s %s\n", info->letter, word, info->help);
	else
		buf_printf(out, "      --%-18s %s\n", word, info->help);
	if (info->more)
		buf_printf(out, "%27s%s\n", "", info->more);
}

static void put_options(struct buf *out, const char *letters, char but)
{
	for (u32 i = 0; i < ARRAY_SIZE(option_infos); i++) {
		const struct option_info *info = &option_infos[i];

		if (info->help && info->letter != but && strchr(letters, info->letter))
			put_option(out, info);
	}
}

void options_help(FILE *out)
{
	struct buf text;

	buf_init(&text);
	buf_puts(&text, "usage: ebql [options] 'SQL' [-- COMMAND ARGS...]\n"
			"       ebql [options]        reads statements: a shell, on a terminal\n"
			"       ebql [options] FILE.sql | NAME [VALUE...] [-- COMMAND ARGS...]\n"
			"       ebql record -o FILE [options] 'SQL' [-- COMMAND ARGS...]\n"
			"       ebql watch FILE|DIRECTORY...\n"
			"       ebql survey PATTERN... [-d TIME] [-- COMMAND ARGS...]\n"
			"       ebql overhead [-n ROUNDS] 'SQL' -- COMMAND ARGS...\n"
			"       ebql calibrate [--show]\n"
			"       ebql snapshot | check FILE...\n"
			"       ebql explain | list | describe | tools | doctor | version | help\n"
			"\n"
			"Runs a streaming SQL query over kernel events.\n");
	put_options(&text, RUN_LETTERS "O", 0);
	buf_puts(
		&text,
		"  -- COMMAND ARGS...       start COMMAND when all is attached, end with it;\n"
		"                           target_pid() is its process\n"
		"\n"
		"  ebql list 'sched*'                        which streams there are\n"
		"  ebql describe tracepoint:sched:sched_switch   which columns they have\n"
		"  ebql doctor                               what this machine allows\n"
		"\n"
		"Exit status: 0 clean, 1 failed, 2 wrong query or usage, 3 losses may bias the answer.\n");
	tell_print(&text, out);
}

/* "10s", "500ms", a bare number of seconds; false when it is none. */
static bool take_duration(const char *text, u64 *ret_ns)
{
	return sql_duration(text, ret_ns) && *ret_ns > 0 && *ret_ns <= DURATION_MAX_NS;
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
	tell("ebql: %s: \"%s\" %s\n", what, value, hint);
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

/* What getopt_long() refused, in the form of our own messages: opterr is 0. */
static void complain_option(int c, char **argv)
{
	const char *word = argv[optind - 1];
	bool is_long = strncmp(word, "--", 2) == 0;

	if (c == ':' && is_long)
		tell("ebql: %s needs a value\n", word);
	else if (c == ':')
		tell("ebql: -%c needs a value\n", optopt);
	else if (is_long && optopt)
		tell("ebql: %.*s takes no value\n", (int)strcspn(word, "="), word);
	else if (is_long || !optopt)
		tell("ebql: there is no option %.*s\n", (int)strcspn(word, "="), word);
	else
		tell("ebql: there is no option -%c\n", optopt);
}

/* Options of psql, sqlite3, duckdb and bpftrace. */
static const char *const foreign_options[][2] = {
	{ "csv", "-o csv" },
	{ "json", "-o json" },
	{ "line", "-o line" },
	{ "table", "-o table" },
	{ "box", "-o table" },
	{ "x", "-o expanded" },
	{ "expanded", "-o expanded" },
	{ "t", "-o csv has rows for programs" },
	{ "A", "-o csv has rows for programs" },
	{ "l", "ebql list" },
	{ "lv", "ebql describe STREAM, for its columns" },
	{ "list", "ebql list" },
	{ "V", "ebql version" },
};

/* What is a flag elsewhere is a parameter of a query of the library, as its own help shows. */
static void hint_option(int argc, char **argv)
{
	/* Of a word of several letters the first was refused, and the others are still to come. */
	const char *word =
		optind < argc && *argv[optind - 1] != '-' ? argv[optind] : argv[optind - 1];

	for (int i = 1; i < argc; i++) {
		if (!library_find(argv[i]))
			continue;
		tell("  hint: \"ebql %s -h\" shows its parameters, \"ebql help\" the options\n",
		     argv[i]);
		return;
	}
	for (u32 i = 0; i < ARRAY_SIZE(foreign_options); i++) {
		if (strcmp(word + strspn(word, "-"), foreign_options[i][0]) != 0)
			continue;
		tell("  hint: %s\n", foreign_options[i][1]);
		return;
	}
	tell("  hint: \"ebql help\" shows the options\n");
}

/* How the subcommand is written; the exit status of who wrote it otherwise. */
static int usage(const struct command *command, FILE *out)
{
	struct buf text;

	if (command->usage) {
		buf_init(&text);
		buf_printf(&text, "usage: ebql %s\n", command->usage);
		tell_print(&text, out);
	} else {
		options_help(out);
	}
	return 2;
}

/* Those that list things have but two. */
static bool has_all_formats(const struct command *command)
{
	return command->takes != TAKES_A_WORD && command->takes != TAKES_MAYBE_A_WORD;
}

static bool take_format(struct options *o, const struct command *command, const char *arg)
{
	if (command->writes_file) {
		o->record_path = arg;
		return true;
	}
	o->format = out_format_find(arg);
	o->has_format = true;
	if (has_all_formats(command))
		return o->format != NULL;
	return o->format == out_format_find("table") || options_want_json(o);
}

static bool take_set(struct options *o, const char *arg)
{
	const char *value = strchr(arg, '=');

	if (!value || value == arg)
		return false;
	vec_push(&o->arena, &o->parameters.words,
		 (struct sql_word){ arena_strndup(&o->arena, arg, (size_t)(value - arg)),
				    value + 1 });
	return true;
}

/* What an option without a value says; NULL: it has one. */
static bool *flag_of(struct options *o, int c)
{
	switch (c) {
	case 'T':
		return &o->is_status;
	case 'Y':
		return &o->allows_payload;
	case 'X':
		return &o->is_fixed;
	case 'L':
		return &o->is_show;
	case 'H':
		return &o->is_heatmap;
	case 'A':
		return &o->is_ascii;
	case 'P':
		return &o->host.counts_partial;
	case 'W':
		return &o->has_window_columns;
	case 'M':
		return &o->has_stats;
	case 'v':
		return &o->is_verbose;
	case 'q':
		return &o->is_quiet;
	case 'R':
		return &o->has_no_rc;
	}
	return NULL;
}

/* Where the value goes as it is; NULL: it is read first. */
static const char **text_of(struct options *o, int c)
{
	switch (c) {
	case 'f':
		return &o->file;
	case 'S':
		return &o->stage;
	case 'C':
		return &o->catalog_path;
	case 'U':
		return &o->audit_path;
	case 'K':
		return &o->socket;
	case 'O':
		return &o->out_path;
	}
	return NULL;
}

/* false: its value is none. */
static bool take_option(struct options *o, const struct command *command, int c, const char *arg)
{
	const char **text = text_of(o, c);
	bool *flag = flag_of(o, c);
	u64 n;

	if (flag)
		return *flag = true;
	if (text) {
		if (c == 'f' && o->file)
			return false;
		/* "-" is standard output, as "-f -" is standard input. */
		*text = c == 'O' && strcmp(arg, "-") == 0 ? NULL : arg;
		return true;
	}
	switch (c) {
	case 'e':
	case 'c':
		/* What ends in a comment ends with its line. */
		if (o->text.n)
			buf_puts(&o->text, strstr(o->text.at, "--") ? "\n;\n" : ";\n");
		buf_puts(&o->text, arg);
		o->has_sql = true;
		return true;
	case 'o':
		return take_format(o, command, arg);
	case 'd':
		return take_duration(arg, &o->host.duration_ns);
	case 'E':
		return take_duration(arg, &o->every_ns);
	case 'n':
		return take_number(arg, UINT64_MAX, &o->host.n_windows);
	case 'p':
		o->target_pid = take_number(arg, 1 << 22, &n) ? (int)n : -1;
		return o->target_pid >= 0;
	case 'B':
		return take_bins(arg, &o->bins);
	case 'V':
		return take_set(o, arg);
	}
	BUG("no case for option %c", c);
}

/* A duration, but for its length? */
static bool is_long(const char *value)
{
	size_t n = strspn(value, "0123456789.");
	char one[16];
	u64 ns;

	snprintf(one, sizeof(one), "1%s", value + n);
	return n && sql_duration(one, &ns) && strtod(value, NULL) * (double)ns > DURATION_MAX_NS;
}

static void complain_value(const struct command *command, int c, const char *value)
{
	const struct option_info *info = option_infos;
	const char *said;

	while (info->letter != c)
		info++;
	said = c == 'o' && !has_all_formats(command)	  ? "is no format here: table or json"
	       : (c == 'd' || c == 'E') && is_long(value) ? "is too long: up to nine years, 3472d"
							  : info->wrong;
	if (has_short(info))
		tell("ebql: -%c: \"%s\" %s\n", info->letter, value, said);
	else
		tell("ebql: --%s: \"%s\" %s\n", info->name, value, said);
}

static bool is_keyword(const char *word)
{
	const char *keyword;

	for (u32 i = 0; (keyword = sql_keyword(i)); i++)
		if (strcasecmp(keyword, word) == 0)
			return true;
	return false;
}

/* No SQL of its own, and no command of the shell. */
static bool is_bare_word(const char *word)
{
	return *word && *word != '\\' && !word[strcspn(word, " \t\r\n;()'\"")] && !is_keyword(word);
}

/* A file, or a query that ships with ebql. */
bool options_is_script(const char *word)
{
	struct stat st;

	return is_bare_word(word) && (strchr(word, '.') || strchr(word, '/') ||
				      library_find(word) || stat(word, &st) == 0);
}

static int read_script(struct options *o, const char *name)
{
	const char *text = library_find(name);
	int error = 0;

	o->is_shipped = text;
	if (text)
		buf_puts(&o->text, text);
	else if (strcmp(name, "-") == 0)
		error = buf_read(&o->text, STDIN_FILENO, QUERY_BYTES_MAX);
	else
		error = buf_read_file(&o->text, name, QUERY_BYTES_MAX);
	if (error)
		tell("ebql: %s: %s\n", name, strerror(-error));
	return error ? 2 : -1;
}

/* 5, 10ms, -5, -.5: no option and no command is called so. */
static bool is_number(const char *word)
{
	word += *word == '-';
	word += *word == '.';
	return *word >= '0' && *word <= '9';
}

/* Values of parameters; those of a script also stand behind "--", if they are numbers. */
static void take_values(struct options *o, char **words, bool is_script)
{
	while (*words)
		vec_push(&o->arena, &o->parameters.words, (struct sql_word){ NULL, *words++ });
	if (!is_script)
		return;
	while (o->command && *o->command && is_number(*o->command))
		vec_push(&o->arena, &o->parameters.words, (struct sql_word){ NULL, *o->command++ });
	if (o->command && *o->command && strcmp(*o->command, "--") == 0)
		o->command++;
	if (o->command && !*o->command)
		o->command = NULL;
}

/* The query is the one argument before "--", or stands in the file, or behind -e, or has a name. */
static int take_text(struct options *o, const struct command *command, char **words,
		     const char *text)
{
	enum file_kind kind;

	if (o->has_sql && (o->file || text))
		return wrong("-e", o->file ?: text, "is a second text; give one of the two");
	if (o->has_sql) {
		o->file = "query";
		take_values(o, words, false);
		return -1;
	}
	if (!text && !o->file && *words && options_is_script(*words)) {
		o->file = *words++;
		if (!library_find(o->file) && file_kind_of(o->file, &kind)) {
			tell("ebql: %s: has rows, and no query\n"
			     "  hint: ebql \"SELECT * FROM '%s'\"\n",
			     o->file, o->file);
			return 2;
		}
	} else if (!text && !o->file && *words && is_bare_word(*words)) {
		o->unknown = *words;
		return -1;
	}
	if (!text && !o->file && *words)
		text = *words++;
	if (!text && !o->file) {
		o->is_shell = !o->command;
		o->file = "query";
		return o->is_shell && !command->usage ? -1 : usage(command, stderr);
	}
	if (o->file && !text) {
		take_values(o, words, true);
		return read_script(o, o->file);
	}
	if (o->file || *words)
		return wrong("too many arguments", o->file ? text : *words,
			     "(put the query in quotes, and a command behind --)");
	buf_puts(&o->text, text);
	o->file = "query";
	return -1;
}

/* --help, also behind the name of a script. */
int options_help_of(struct options *o, const struct command *command, const char *word)
{
	const char *name = o->file ?: word;
	struct buf text;

	if (command->takes != TAKES_A_QUERY || !name || !options_is_script(name)) {
		usage(command, stdout);
		buf_init(&text);
		if (command->about)
			buf_printf(&text, "\n%s", command->about);
		if (command->about && strstr(command->usage, "[options]"))
			put_options(&text, command->letters, command->writes_file ? 'o' : 0);
		tell_print(&text, stdout);
		return 0;
	}
	return read_script(o, name) < 0 ? library_help(name, o->text.at) : 2;
}

/* What stands behind the options. */
static int take_words(struct options *o, const struct command *command, char **words,
		      const char *text)
{
	if (command->takes == TAKES_A_QUERY)
		return take_text(o, command, words, text);
	if (command->takes == TAKES_PATTERNS) {
		o->words = words;
		return *words ? -1 : usage(command, stderr);
	}
	if (command->takes == TAKES_WORDS) {
		o->words = words;
		if (strcmp(words[-1], "--") == 0)
			return wrong(command->name, "--",
				     "is no option here: it starts no command");
		for (char **word = words; *word; word++)
			if (!**word || strcmp(*word, "-") == 0)
				return wrong(command->name, *word, "is no file or directory");
		if (o->is_status && o->format != out_format_find("table") && !options_want_json(o))
			return wrong("-o", o->format->name, "is no format here: table or json");
		return (*words == NULL) == o->is_status ? -1 : usage(command, stderr);
	}
	if (command->takes != TAKES_NOTHING && *words)
		o->word = *words++;
	if (*words || text || (command->takes == TAKES_A_WORD && !o->word))
		return usage(command, stderr);
	return -1;
}

/* -e, -qe, --execute and its like: a text by option follows. */
static bool wants_text(const char *word)
{
	size_t n = strlen(word);

	if (n < 2 || *word != '-' || word[1] != '-')
		return n > 1 && *word == '-' && strchr("ec", word[n - 1]);
	return !strncmp(word, "--execute", n) || !strncmp(word, "--command", n);
}

/* "-- hello\nSELECT ...", but not --set=a=b, of whatever lines. */
static bool is_comment(const char *word)
{
	return strncmp(word, "--", 2) == 0 && word[2] &&
	       (strchr(" \t\r", word[2]) || word[strcspn(word, "=\n")] == '\n');
}

/* Takes the first query that begins so out of argv, where getopt would see an option; or NULL. */
static const char *take_comment(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		char *arg = argv[i];

		if (!is_comment(arg) || wants_text(argv[i - 1]))
			continue;
		memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i) * sizeof(*argv));
		(*argc)--;
		return arg;
	}
	return NULL;
}

/* COMMAND is what stands behind --. */
static bool take_command(struct options *o, int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		o->command = &argv[i + 1];
		argv[i] = NULL;
		*argc = i;
		return o->command[0] != NULL;
	}
	return true;
}

/* Numbers below zero are values: getopt_long() would see options in them, and there is none. */
#define MASK '\1'

static void mask_values(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (*argv[i] == MASK || (*argv[i] == '-' && is_number(argv[i])))
			argv[i] = arena_printf(&o->arena, "%c%s", MASK, argv[i]);
}

static char *unmasked(char *word)
{
	return word && *word == MASK ? word + 1 : word;
}

/* What getopt_long() wants, of the options that the subcommand has. */
static void list_options(const struct command *command, char *shorts, struct option *longs)
{
	*shorts++ = ':';
	for (u32 i = 0; i < ARRAY_SIZE(option_infos); i++) {
		const struct option_info *info = &option_infos[i];

		if (!strchr(command->letters, info->letter))
			continue;
		*longs++ = (struct option){ info->name,
					    info->argument ? required_argument : no_argument, NULL,
					    info->letter };
		if (has_short(info)) {
			*shorts++ = info->letter;
			if (info->argument)
				*shorts++ = ':';
		}
	}
	*shorts = '\0';
	*longs = (struct option){ 0 };
}

void options_free(struct options *o)
{
	buf_free(&o->text);
	arena_free(&o->arena);
}

int options_parse(struct options *o, const struct command *command, int argc, char **argv)
{
	struct option longs[ARRAY_SIZE(option_infos) + 1];
	char shorts[2 * ARRAY_SIZE(option_infos) + 2];
	const char *text = NULL;
	bool is_help = false;
	int c;

	*o = (struct options){ .format = out_format_find("table"),
			       .target_pid = -1,
			       .host = { .child_pid = -1, .child_go_fd = -1 } };
	buf_init(&o->text);
	arena_init(&o->arena);
	if (command->takes == TAKES_A_QUERY || command->takes == TAKES_PATTERNS) {
		if (!take_command(o, &argc, argv)) {
			tell("ebql: there is no command behind --\n");
			return 2;
		}
		text = command->takes == TAKES_A_QUERY ? take_comment(&argc, argv) : NULL;
		mask_values(o, argc, argv);
	}
	list_options(command, shorts, longs);
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == '?' || c == ':' || (c == 'c' && strcmp(optarg, "sv") == 0)) {
			complain_option(c, argv);
			if (command->usage)
				return usage(command, stderr);
			hint_option(argc, argv);
			return 2;
		}
		is_help |= c == 'h';
		if (c == 'h' || take_option(o, command, c, unmasked(optarg)))
			continue;
		complain_value(command, c, unmasked(optarg));
		if (c == 'n')
			library_hint_name(argv + 1, unmasked(optarg));
		return 2;
	}
	for (int i = optind; i < argc; i++)
		argv[i] = unmasked(argv[i]);
	if (is_help)
		return options_help_of(o, command, argv[optind]);
	if (o->is_heatmap && o->has_format && strcmp(o->format->name, "heatmap") != 0)
		return wrong("--heatmap", o->format->name,
			     "is another format; give one of the two");
	if (o->is_heatmap)
		o->format = out_format_find("heatmap");
	if (o->command && o->target_pid >= 0) {
		tell("ebql: -p and -- COMMAND both name a target; give one\n");
		return 2;
	}
	c = take_words(o, command, argv + optind, text);
	if (c < 0 && o->out_path && o->is_shell)
		return wrong("-O", o->out_path, "is for the results of one query, given here");
	if (c < 0 && o->has_window_columns && command->takes == TAKES_A_QUERY && !o->is_shell &&
	    !o->format->takes_window_columns)
		return wrong("--window-columns", o->format->name,
			     "has no such columns: -o csv and -o json have");
	return c;
}
