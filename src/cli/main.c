/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The program: a table of subcommands; everything else is a query to run.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/cli.h"
#include "cli/options.h"

static int cmd_version(int argc, char **argv)
{
	puts("ebql " EBQL_VERSION);
	return 0;
}

static int cmd_help(int argc, char **argv)
{
	options_help(stdout);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "explain", cmd_explain },   { "list", cmd_list },	{ "describe", cmd_describe },
	{ "record", cmd_record },     { "doctor", cmd_doctor }, { "version", cmd_version },
	{ "--version", cmd_version }, { "help", cmd_help },
};

int main(int argc, char **argv)
{
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	for (u32 i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	return cmd_run(argc, argv);
}
