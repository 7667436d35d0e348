/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Command line of list and describe -> struct catalog_options -> an open catalog.
 */
#include "cli/catalog_options.h"
#include "cli/complain.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool complain_usage(const char *usage)
{
	fprintf(stderr, "usage: ebql %s\n", usage);
	return false;
}

bool catalog_options_parse(int argc, char **argv, const char *usage,
			   struct catalog_options *ret_options)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "catalog", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	*ret_options = (struct catalog_options){ 0 };
	opterr = 0;
	optind = 0; /* glibc: start over, the main command has parsed before */
	while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			ret_options->is_json = !strcmp(optarg, "json");
			if (!ret_options->is_json && strcmp(optarg, "table") != 0) {
				fprintf(stderr,
					"ebql: -o: \"%s\" is no format here: table or json\n",
					optarg);
				return false;
			}
			break;
		case 'c':
			ret_options->snapshot = optarg;
			break;
		case 'h':
			return complain_usage(usage);
		default:
			complain_option(option, argv);
			return complain_usage(usage);
		}
	}
	if (argc - optind > 1)
		return complain_usage(usage);
	ret_options->argument = argv[optind];
	return true;
}

struct catalog *catalog_options_open(const struct catalog_options *options, struct arena *arena,
				     struct diags *diags)
{
	return options->snapshot ? catalog_open_snapshot(arena, options->snapshot, diags)
				 : catalog_open_live(arena);
}

void catalog_complain(const struct diags *diags)
{
	struct buf text;

	buf_init(&text);
	diags_print(diags, &text);
	buf_flush(&text, STDERR_FILENO);
	buf_free(&text);
}
