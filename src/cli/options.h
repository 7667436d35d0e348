/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The words of a command line -> struct options, as the subcommand takes them.
 */
#ifndef EBQL_CLI_OPTIONS_H
#define EBQL_CLI_OPTIONS_H

#include "host/host.h"
#include "out/out.h"
#include "sql/sql.h"

/* A run whose batches are for the program itself, and how it went. */
struct trial {
	int (*batch)(void *context, const struct batch *batch); /* NULL: they are for nobody */
	void *context;
	struct account account;
	u64 ns, own_cpu_ns; /* from when all was attached to the end */
	struct host_child child;
};

struct options {
	struct arena arena;
	struct buf text;		  /* the query */
	struct sql_parameters parameters; /* the words for them: --set, and those behind a script */
	const char *file;		  /* its name in messages */
	const char *unknown;	  /* a word in the place of a query that is none; else NULL */
	bool has_sql;		  /* -e */
	const char *word;	  /* list, describe: the pattern or stream; NULL: none */
	char **words;		  /* watch: files and directories; NULL ends them */
	const char *socket;	  /* watch --socket; NULL: the usual place */
	const char *stage;	  /* explain --stage */
	const char *catalog_path; /* --catalog: a frozen one; NULL: the live kernel's */
	const struct out_format *format;
	const char *record_path; /* of "ebql record"; NULL: rows go to standard output */
	const char *audit_path;	 /* --audit; NULL: none */
	const char *out_path;	 /* -O; NULL: standard output */
	bool *is_out_begun;	 /* has a statement before this one written there? NULL: none has */
	struct host_options host;
	u64 every_ns;	     /* --every; 0: none */
	int target_pid;	     /* -p; -1: none */
	char **command;	     /* behind --; NULL: none */
	bool is_shipped;     /* the text came with ebql */
	bool is_name;	     /* the text is that of a stream or file, and no SQL */
	bool is_status;	     /* watch --status */
	bool is_fixed;	     /* watch --fixed */
	bool allows_payload; /* watch --allow-payload */
	bool is_verbose, is_quiet;
	bool has_no_rc;
	bool has_stats;		     /* --stats */
	bool has_format, is_heatmap; /* -o, --heatmap */
	bool is_ascii;		     /* --ascii */
	bool has_window_columns;     /* --window-columns */
	bool is_shell;		     /* no query: statements are read from standard input */
	bool is_show;		     /* calibrate --show */
	struct trial *trial;	     /* NULL: batches are for the output */
	u32 bins;		     /* --bins: a number or OUT_BINS_*; 0: all cells */
};

static inline bool options_want_json(const struct options *options)
{
	return options->format == out_format_find("json");
}

/* A subcommand, or, without a name, what runs a query. */
struct command {
	const char *name;
	const char *usage;   /* behind "usage: ebql "; NULL: the help has it */
	const char *letters; /* of the options that it takes */
	enum {
		TAKES_NOTHING,
		TAKES_MAYBE_A_WORD,
		TAKES_A_WORD,
		TAKES_WORDS,
		TAKES_PATTERNS,
		TAKES_A_QUERY
	} takes;
	/* The process' exit status: see cli.h. */
	int (*run)(struct options *options);
	bool writes_file;  /* which -o names, instead of a format */
	const char *about; /* what it does, whole lines; NULL: the help says it */
};

/* Of the options of what runs a query, each one's letter; -O is of one that runs alone. */
#define RUN_LETTERS "ecfodnpvhHBAEMVWPqRU"

/* -1 to go on, else the exit status. */
int options_parse(struct options *options, const struct command *command, int argc, char **argv);
void options_free(struct options *options);
void options_help(FILE *out);
/* What the word means of which --help stands behind it: the subcommand, or a script. */
int options_help_of(struct options *o, const struct command *command, const char *word);
/* Is the word the name of a file, or of a query that ships with ebql? */
bool options_is_script(const char *word);

#endif
