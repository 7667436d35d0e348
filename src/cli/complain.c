/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What getopt_long() refused -> one line, in the words and form of our own
 * messages: opterr is 0, and the list of options begins with ":".
 */
#include "cli/complain.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void complain_option(int c, char **argv)
{
	const char *word = argv[optind - 1];
	bool is_long = strncmp(word, "--", 2) == 0;

	if (c == ':' && is_long)
		fprintf(stderr, "ebql: %s needs a value\n", word);
	else if (c == ':')
		fprintf(stderr, "ebql: -%c needs a value\n", optopt);
	else if (is_long && optopt)
		fprintf(stderr, "ebql: %.*s takes no value\n", (int)strcspn(word, "="), word);
	else if (is_long || !optopt)
		fprintf(stderr, "ebql: there is no option %.*s\n", (int)strcspn(word, "="), word);
	else
		fprintf(stderr, "ebql: there is no option -%c\n", optopt);
}
