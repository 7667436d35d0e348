/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The subcommands of the program.  argv[0] is the subcommand's own name; results
 * go to stdout, complaints to stderr.  Each returns the process' exit status:
 * 0 done, 1 failed, 2 wrong usage or query, 3 a run whose losses may bias it.
 */
#ifndef EBQL_CLI_CLI_H
#define EBQL_CLI_CLI_H

/* [options] 'SQL': runs it.  explain [--stage STAGE] 'SQL': shows how it would run. */
int cmd_run(int argc, char **argv);
int cmd_explain(int argc, char **argv);
/* record -o FILE [options] 'SQL': runs it and writes its rows to a file. */
int cmd_record(int argc, char **argv);
/* list [-o table|json] [--catalog FILE] [PATTERN]: the streams there are. */
int cmd_list(int argc, char **argv);
/* describe [-o table|json] [--catalog FILE] STREAM: its columns. */
int cmd_describe(int argc, char **argv);
/* doctor: what this kernel and these privileges allow, and how to mend the rest. */
int cmd_doctor(int argc, char **argv);

#endif
