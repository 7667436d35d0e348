/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is installed, as others find it: the files, the header for C and C++, the symbols, and a
 * program that is built by pkg-config's word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char folder[] = "/tmp/ebql-install-XXXXXX";

/* A shell's words, with $D, where all was installed. */
static void shell(const char *words)
{
	if (system(words))
		fail_msg("%s", words);
}

static int begin(void **state)
{
	if (!mkdtemp(folder) || setenv("D", folder, 1) || setenv("DESTDIR", folder, 1) ||
	    setenv("BUILD", BUILD_DIR, 1) || setenv("SOURCE", SOURCE_DIR, 1) ||
	    setenv("PC",
		   "PKG_CONFIG_SYSROOT_DIR=$D PKG_CONFIG_PATH=$(dirname $(find $D -name "
		   "ebql.pc)) pkg-config",
		   1) ||
	    setenv("FLAGS", "-Wall -Wextra -pedantic -Werror " SANITIZE, 1))
		return -1;
	return system("meson install -C $BUILD --no-rebuild --quiet >$D/log 2>&1 || "
		      "{ cat $D/log >&2; false; }");
}

static int end(void **state)
{
	return system("rm -r $D");
}

static void test_files(void **state)
{
	/* None of them empty. */
	shell("cd $D && for f in bin/ebql include/ebql.h libebql.so libebql.so.0 libebql.so.0.1.0 "
	      "libebql.a pkgconfig/ebql.pc share/man/man1/ebql.1 share/man/man7/ebql-sql.7 "
	      "share/man/man7/ebql-streams.7 share/man/man7/ebql-tools.7 share/man/man3/libebql.3 "
	      "share/bash-completion/completions/ebql share/zsh/site-functions/_ebql "
	      "share/fish/vendor_completions.d/ebql.fish; do "
	      "find -L . -path \"*/$f\" -size +0 | grep -q . || "
	      "{ echo no $f >&2; exit 1; }; done");
	shell("readelf -d $(find $D -name libebql.so.0.1.0) | grep -q 'SONAME.*\\[libebql.so.0\\]'");
	shell("$(find $D -path '*/bin/ebql') version >/dev/null");
	shell("eval $PC --modversion ebql | grep -qx " EBQL_VERSION);
	/* Where it is looked for when nobody says where. */
	shell("dir=$(eval $PC --variable=libdir ebql | sed \"s#^$D##\"); case $dir in "
	      "/usr/local/*) pkg-config --variable=pc_path pkg-config | tr : '\\n' | "
	      "grep -qxF \"$dir/pkgconfig\" || { echo not found in $dir >&2; false; };; esac");
}

/* As systemd reads it, but for the command, which is not where it will be. */
static void test_service(void **state)
{
	shell("grep -q '^ExecStart=/.*/bin/ebql watch ' $(find $D -name ebql-watch.service)");
	if (system("command -v systemd-analyze >/dev/null")) {
		puts("SKIP: no systemd-analyze");
		skip();
	}
	shell("cd $D && sed 's#^\\(Exec[A-Za-z]*\\)=[^ ]*#\\1=/bin/true#' "
	      "$(find . -path '*/systemd/system/ebql-watch.service') >ebql-watch.service && "
	      "systemd-analyze --man=no verify ./ebql-watch.service 2>verified; status=$?; "
	      "cat verified >&2; [ $status = 0 ] && [ ! -s verified ] && "
	      "systemd-analyze --offline=yes --threshold=30 security ./ebql-watch.service "
	      ">secure || { cat secure >&2; false; }");
}

/* Both libraries have these symbols for others, no more and no less, by the version that brought
 * them. */
static void test_symbols(void **state)
{
	shell("sed -n '/{/,/}/s/^\t\\(ebql_.*\\);/\\1/p' $SOURCE/src/api/ebql.map >$D/listed; "
	      "[ $(wc -l <$D/listed) -gt 20 ]");
	shell("nm -D --defined-only $(find $D -name libebql.so.0.1.0) | sed -n 's/.* T //p' | "
	      "sort >$D/shared; sed 's/$/@@EBQL_0.1/' $D/listed | diff - $D/shared >&2");
	shell("nm -g --defined-only $(find $D -name libebql.a) | sed -n 's/.* [A-Z] //p' | "
	      "grep -v '^__odr_asan\\|_ubsan_\\|_asan_' | sort | diff $D/listed - >&2");
	shell("grep -oE 'EBQL_API [^;]*' $SOURCE/include/ebql.h | grep -oE 'ebql_[a-z_]+\\(' | "
	      "tr -d '(' | sort | diff $D/listed - >&2");
}

/* Nothing of it needs another header, nor an extension of a compiler. */
static void test_header(void **state)
{
	shell("cd $D && echo '#include <ebql.h>' >h.c && cp h.c h.cc && "
	      "cc -std=c11 $FLAGS -I$SOURCE/include -c h.c -o h.o && "
	      "c++ -std=c++17 $FLAGS -I$SOURCE/include -c h.cc -o h.o && "
	      "clang -std=c11 $FLAGS -I$SOURCE/include -c h.c -o h.o");
	/* Another library has the structures of Arrow already. */
	shell("cd $D && { echo '#include <stdint.h>'; "
	      "sed -n '/^#ifndef ARROW_C_DATA/,/^#endif/p' $SOURCE/include/ebql.h; "
	      "echo '#include <ebql.h>'; echo 'struct ArrowArray array;'; } >arrow.c && "
	      "cc -std=c11 $FLAGS -I$SOURCE/include -c arrow.c -o arrow.o");
	shell("cd $D && printf '%s\\n' '#include <ebql.h>' 'int main() { struct ebql_batch b {}; "
	      "b.size = sizeof(b); return ebql_batch(nullptr, &b) != EBQL_MISUSE; }' >main.cc && "
	      "c++ -std=c++17 $FLAGS -o main main.cc $(eval $PC --cflags --libs ebql) && "
	      "LD_LIBRARY_PATH=$(dirname $(find $D -name libebql.so.0)) ./main");
}

static void test_example(void **state)
{
	shell("cd $D && cc $FLAGS -o top $SOURCE/examples/top.c $(eval $PC --cflags --libs ebql)");
	shell("cd $D && cc $FLAGS -o top $SOURCE/examples/top.c $(eval $PC --cflags ebql) "
	      "$(find $D -name libebql.a) "
	      "$(eval $PC --static --libs-only-l ebql | sed 's/-lebql//')");
	/* The static one goes with what a program calls by the same names as we do. */
	shell("cd $D && printf '%s\\n' '#include <ebql.h>' 'int query_init(void) { return 0; }' "
	      "'int main(void) { struct ebql_session *s; int e = ebql_session_open(&s); "
	      "ebql_session_close(s); return e || query_init(); }' >same.c && "
	      "cc -Wall -Wextra -Werror " SANITIZE " -o same same.c $(eval $PC --cflags ebql) "
	      "$(find $D -name libebql.a) -lsqlite3 -lm && ./same");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),	cmocka_unit_test(test_service),
		cmocka_unit_test(test_symbols), cmocka_unit_test(test_header),
		cmocka_unit_test(test_example),
	};

	return cmocka_run_group_tests_name("install", tests, begin, end);
}
