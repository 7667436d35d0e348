/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The program: a table of subcommands; everything else is a query to run.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/library.h"
#include "cli/options.h"
#include "cli/shell.h"
#include "host/host.h"
#include "sys/sys.h"
#include "watch/watch.h"

static int cmd_version(struct options *options)
{
	puts("ebql " EBQL_VERSION);
	return 0;
}

static int cmd_help(struct options *options);

/* Has it a line that is for the shell? */
static bool has_command(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\\' || strstr(text, "\n\\");
}

static int cmd_run(struct options *options)
{
	bool is_many;
	u32 n = 0;
	int status;

	if (options->is_shell)
		return shell_run(options);
	is_many = has_command(options->text.at);
	status = is_many ? 0 : run_count(options, &n);
	if (status)
		return status;
	is_many |= n > 1;
	if (is_many && options->command) {
		tell("ebql: -- COMMAND is for one query, and there are several\n");
		return 2;
	}
	if (n > 1 && options->format->is_single) {
		tell("ebql: -o %s writes one query, and there are several\n"
		     "  hint: run each by itself, with -O FILE\n",
		     options->format->name);
		return 2;
	}
	return is_many ? shell_text(options) : run_text(options, NULL);
}

static int cmd_explain(struct options *options)
{
	if (!options->stage)
		options->stage = "physical";
	if (!query_has_stage(options->stage)) {
		tell("ebql: there is no stage \"%s\"\n"
		     "  hint: ast, cut, logical, optimized, physical, ir, bpf or all\n",
		     options->stage);
		return 2;
	}
	return run_text(options, NULL);
}

static int cmd_list(struct options *options)
{
	options->file = "list";
	buf_puts(&options->text, "SHOW STREAMS");
	return run_text(options, NULL);
}

static int cmd_describe(struct options *options)
{
	options->file = "describe";
	options->is_name = true;
	buf_puts(&options->text, options->word);
	return run_text(options, NULL);
}

static int cmd_record(struct options *options)
{
	const char *path = options->record_path;
	enum file_kind kind;

	if (!path) {
		tell("ebql: record: -o FILE says where the rows go, a file that ends with "
		     ".arrows, .jsonl or .csv\n");
		return 2;
	}
	if (!file_kind_of(path, &kind)) {
		tell("error[unknown-file]: %s: is no kind of file\n"
		     "  hint: files end with .arrows, .jsonl or .csv\n",
		     path);
		return 2;
	}
	if (options->is_shell) {
		tell("ebql: record: there is no query\n");
		return 2;
	}
	options->format = out_recorder(kind);
	return run_text(options, NULL);
}

static int cmd_watch(struct options *options)
{
	const struct watch_options watch = {
		.words = options->words,
		.socket = options->socket,
		.format = options->format,
		.host = options->host,
		.every_ns = options->every_ns,
		.target_pid = options->target_pid,
		.bins = options->bins,
		.is_ascii = options->is_ascii,
		.has_window_columns = options->has_window_columns,
		.is_fixed = options->is_fixed,
		.allows_payload = options->allows_payload,
		.is_status = options->is_status,
		.has_json = options_want_json(options),
	};

	return watch_run(&watch);
}

static const struct command commands[] = {
	{ "explain",
	  "explain [--stage ast|cut|logical|optimized|physical|ir|bpf|all]\n"
	  "                    [--catalog FOLDER] [-f FILE] 'SQL'",
	  "ecfhSCV", TAKES_A_QUERY, cmd_explain,
	  .about =
		  "What the query becomes: by which hooks it reads its events, and what is computed\n"
		  "where.  Nothing is run.  --catalog: over copies of some kernel's files.\n" },
	{ "list", "list [-o table|json] [--catalog FOLDER] [PATTERN]", "ohC", TAKES_MAYBE_A_WORD,
	  cmd_list,
	  .about = "The streams and views that FROM can read: all, those whose name contains\n"
		   "PATTERN (sched), or those that match its * and ? ('tracepoint:sched:*').\n" },
	{ "describe", "describe [-o table|json] [--catalog FOLDER] STREAM", "ohC", TAKES_A_WORD,
	  cmd_describe, .about = "The columns of a stream, view or file, and what they are.\n" },
	{ "record", "record -o FILE [options] 'SQL' [-- COMMAND ARGS...]", "ecfodnpvhMVqU",
	  TAKES_A_QUERY, cmd_record, .writes_file = true,
	  .about =
		  "Writes single events to FILE, which ends with .arrows, .jsonl or .csv, and which\n"
		  "FROM 'FILE' reads, on any machine and without privileges.\n" },
	{ "watch",
	  "watch [options] [--fixed] [--socket PATH] FILE|DIRECTORY...\n"
	  "       ebql watch --status [-o table|json] [--socket PATH]",
	  "odnphBAETKWPXUY", TAKES_WORDS, cmd_watch,
	  .about =
		  "Runs the queries of all files in one process; a file that comes, changes or goes\n"
		  "away adds, replaces or ends its query.\n" },
	{ "snapshot", "snapshot [-o FILE] [--catalog FOLDER] QUERY.sql...", "ohC", TAKES_WORDS,
	  cmd_snapshot, .writes_file = true,
	  .about =
		  "Writes down the queries and what they rely on in this kernel, for ebql check.\n" },
	{ "check", "check [-v] [--catalog FOLDER] SNAPSHOT [SNAPSHOT]", "vhC", TAKES_WORDS,
	  cmd_check,
	  .about =
		  "What of a snapshot is another in this kernel, or in a second snapshot; -v: also\n"
		  "what breaks no query.  Exit status 1: there are differences.\n" },
	{ "survey", "survey [-d TIME] [-o FORMAT] PATTERN... | 'SQL' [-- COMMAND ARGS...]",
	  "odhBAqU", TAKES_PATTERNS, cmd_survey,
	  .about =
		  "Counts for 5 s (-d), or while COMMAND runs, how often streams fire, and says what\n"
		  "a query that reads them would cost.\n" },
	{ "calibrate", "calibrate [--show] [-n ROUNDS] [-o FORMAT]", "onhLqU", TAKES_NOTHING,
	  cmd_calibrate,
	  .about =
		  "Measures what each way to read an event costs on this machine, in some 15 s, and\n"
		  "stores it for survey and for what chooses between them.  --show: what is used.\n" },
	{ "overhead", "overhead [-n ROUNDS] [-o FORMAT] 'SQL' -- COMMAND ARGS...", "ecfonphVvqU",
	  TAKES_A_QUERY, cmd_overhead,
	  .about =
		  "Runs COMMAND with the query and without it by turns, in 10 rounds (-n), and says\n"
		  "how much longer it took, and used its CPU, with an interval of 95 %.\n" },
	{ "tools", "tools [NAME]", "h", TAKES_MAYBE_A_WORD, cmd_tools,
	  .about = "The queries that ship with ebql; of one, its parameters and its text.\n"
		   "\"ebql NAME\" runs it.\n" },
	{ "doctor", "doctor", "h", TAKES_NOTHING, cmd_doctor,
	  .about =
		  "What this kernel and your privileges allow, and how to mend what they do not.\n" },
	{ "version", "version", "h", TAKES_NOTHING, cmd_version },
	{ "--version", "version", "h", TAKES_NOTHING, cmd_version },
	{ "help", "help [SUBCOMMAND|TOOL]", "h", TAKES_MAYBE_A_WORD, cmd_help },
	{ NULL, NULL, RUN_LETTERS "O", TAKES_A_QUERY, cmd_run },
};

static int say_unknown(const char *word)
{
	struct suggest suggest;

	suggest_init(&suggest, word);
	for (const struct command *c = commands; c->name; c++)
		suggest_offer(&suggest, c->name);
	library_offer(&suggest);
	tell("ebql: \"%s\" is no query, no file, no tool and no subcommand\n", word);
	if (strcmp(word, "-") == 0)
		tell("  hint: -f - reads the query from standard input\n");
	else if (suggest_best(&suggest))
		tell("  hint: did you mean \"%s\"?\n", suggest_best(&suggest));
	else
		tell("  hint: \"ebql tools\" lists the tools, \"ebql help\" the subcommands\n");
	return 2;
}

/* "help WORD" as "WORD --help": of a subcommand, a tool or a file. */
static int cmd_help(struct options *options)
{
	const struct command *command = commands;

	if (!options->word) {
		options_help(stdout);
		return 0;
	}
	while (command->name && strcmp(options->word, command->name) != 0)
		command++;
	if (!command->name && !options_is_script(options->word))
		return say_unknown(options->word);
	return options_help_of(options, command, options->word);
}

/*
 * What is closed of standard input, output and error must not become a map or a recording, into
 * which results would go.  Open for reading only: what is written there fails, as it would have.
 */
static bool open_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	const struct command *command = commands;
	struct options options;
	int status;

	sys_rights_init();
	if (!open_standard())
		return 1;
	/* Ignored by who started us, it would leave nothing to wait for of commands that end. */
	signal(SIGCHLD, SIG_DFL);
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	while (command->name && (argc < 2 || strcmp(argv[1], command->name) != 0))
		command++;
	if (command->name) {
		argc--;
		argv++;
	}
	status = options_parse(&options, command, argc, argv);
	if (options.is_quiet)
		tell_be_quiet();
	if (status < 0 && !audit_open(options.audit_path))
		status = 1;
	if (status < 0)
		status = options.unknown ? say_unknown(options.unknown) : command->run(&options);
	audit_close();
	options_free(&options);
	return fflush(stdout) || ferror(stdout) ? tell_failed(TELL_STDOUT, errno) : status;
}
