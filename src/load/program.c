/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Instructions -> a program the verifier has accepted, or a diagnostic that points
 * to the place of the query that the refused instruction came from.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "load/internal.h"

/* The most that kernels before 5.2 take; pages that the log does not reach stay unused. */
#define LOG_BYTES ((16u << 20) - 1)
/* Of a program that was taken: some lines of figures, one of a number for each sub-program. */
#define FIGURES_BYTES 4096
/* Lines of the log that a diagnostic shows, and columns of each. */
#define LOG_TAIL_LINES 4
#define LOG_TAIL_BYTES 200

/* A copy of the code with the maps' descriptors in their places. */
static struct bpf_insn *relocate(const struct load_hooks *hooks, const struct bpf_code *code)
{
	struct bpf_insn *insns = arena_array(hooks->arena, struct bpf_insn, code->n_insns);

	memcpy(insns, code->insns, sizeof(*insns) * code->n_insns);
	for (u32 i = 0; i < code->n_relocs; i++) {
		const struct bpf_reloc *reloc = &code->relocs[i];
		struct bpf_insn *insn = &insns[reloc->insn];

		BUG_ON(reloc->insn + 1 >= code->n_insns);
		BUG_ON(insn->code != (BPF_LD | BPF_IMM | BPF_DW) ||
		       load_map_fd(hooks, reloc->map) < 0);
		insn->imm = load_map_fd(hooks, reloc->map);
		insn->src_reg =
			reloc->kind == BPF_RELOC_MAP ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE;
	}
	return insns;
}

/* For bpftool: what the program hangs on, as far as 15 letters go. */
static void program_name(const struct load_program *program, char ret_name[16])
{
	const char *target = program->hook->target, *colon = strrchr(target, ':');

	snprintf(ret_name, 16, "ebql_%s", colon ? colon + 1 : target);
	/* Others the kernel refuses (bpf_obj_name_cpy()). */
	for (char *c = ret_name; *c; c++)
		if (!isalnum((u8)*c) && *c != '_')
			*c = '_';
}

/* All that BPF_PROG_LOAD wants, but for a log and debug information, and a module's BTF. */
static void program_attr(const struct load_program *program, const struct bpf_insn *insns,
			 union bpf_attr *ret_attr)
{
	const struct load_kind *kind = load_kind(program);
	const struct hook *hook = program->hook;

	memset(ret_attr, 0, sizeof(*ret_attr));
	ret_attr->prog_type = hook->is_typed ? kind->typed_type : kind->type;
	ret_attr->prog_flags = kind->flags;
	ret_attr->expected_attach_type = hook->is_typed ? 0 : kind->attach_type;
	ret_attr->insns = sys_pointer(insns);
	ret_attr->insn_cnt = program->code.n_insns;
	ret_attr->license = sys_pointer(LOAD_LICENSE);
	program_name(program, ret_attr->prog_name);
	if (hook->is_typed) {
		ret_attr->expected_attach_type = kind->typed_attach_type;
		if (hook->is_exit && kind->typed_return_type)
			ret_attr->expected_attach_type = kind->typed_return_type;
		ret_attr->attach_btf_id = hook->attach_btf_id;
	}
}

/*
 * The instruction that the log complains of: the last "N: (op) ..." line; else, when
 * the control flow itself was refused, the number in its "insn N"; -1 if there is none.
 */
static s64 failed_instruction(const char *log)
{
	s64 last = -1, named = -1;

	for (const char *line = log; line && *line; line = strchr(line, '\n')) {
		char *rest;
		const char *end, *insn;
		long number;

		line += *line == '\n';
		if (strncmp(line, "processed ", 10) == 0)
			break; /* the summary, which has an "insn 0" of its own */
		number = strtol(line, &rest, 10);
		if (rest != line && number >= 0 && !strncmp(rest, ": (", 3)) {
			last = number;
			continue;
		}
		insn = strstr(line, "insn ");
		end = strchrnul(line, '\n');
		if (insn && insn < end && isdigit((u8)insn[5]))
			named = strtol(insn + 5, NULL, 10);
	}
	return last >= 0 ? last : named;
}

/* The last lines before "processed N insns ...", each cut, on one line: messages have one. */
static const char *log_tail(struct arena *arena, const char *log)
{
	const char *end = strstr(log, "\nprocessed "), *start;
	const char *text = "";
	u32 n_lines = 0;

	if (!end)
		end = log + strlen(log);
	while (end > log && end[-1] == '\n')
		end--;
	for (start = end; start > log; start--)
		if (start[-1] == '\n' && ++n_lines == LOG_TAIL_LINES)
			break;
	while (start < end) {
		const char *line_end = memchr(start, '\n', end - start);

		if (!line_end)
			line_end = end;
		text = arena_printf(arena, "%s%s%.*s", text, *text ? " | " : " ",
				    (int)MIN(line_end - start, LOG_TAIL_BYTES), start);
		start = line_end + (line_end < end);
	}
	return text;
}

/* The span of the instruction, or of the nearest one before it that has one. */
static struct span instruction_span(const struct bpf_code *code, s64 insn)
{
	if (!code->spans || insn >= code->n_insns)
		return (struct span){ 0 };
	while (insn >= 0 && code->spans[insn].end == 0)
		insn--;
	return insn >= 0 ? code->spans[insn] : (struct span){ 0 };
}

static void verifier_diag(const struct load_hooks *hooks, const struct load_program *program,
			  const char *log, int error, struct diags *diags)
{
	s64 insn = failed_instruction(log);
	struct span span = instruction_span(&program->code, insn);
	const char *tail = log_tail(hooks->arena, log);
	/* What kernels before 5.12 say of an atomic instruction other than a plain addition. */
	bool is_old = strstr(log, "BPF_STX uses reserved fields");
	const char *format = "the kernel's verifier refused the program on %s (%s) at "
			     "instruction %lld:%s";
	struct diag *diag;

	if (is_old) {
		diag_failure(diags, "old-kernel",
			     "this kernel's BPF has no atomic exchange, by which programs claim "
			     "their state" HINT "boot Linux 5.15 or later");
		return;
	}
	/* "program of this type cannot use helper", "unknown func": it is there for all tracing. */
	if (strstr(log, " func bpf_probe_read_") || strstr(log, " helper bpf_probe_read_")) {
		load_locked_down(span.end ? span : SPAN_NONE, "read its memory", diags);
		return;
	}
	if (span.end)
		diag = diag_failure_at(diags, "verifier", span, format, program->hook->target,
				       strerror(error), (long long)insn, tail);
	else
		diag = diag_failure(diags, "verifier", format, program->hook->target,
				    strerror(error), (long long)insn, tail);
	diag_hint(diags, diag,
		  "no query should lead to this: it is a bug of ebql; please report it with the "
		  "query, this message and the kernel's version");
}

/*
 * Places of the query for `bpftool prog dump` and the verifier's log; costs 3-4 us.
 * Returns the BTF's descriptor, or -errno: then the program goes without.
 */
static int debug_info_add(const struct load_hooks *hooks, const struct load_program *program,
			  const struct diags *diags, union bpf_attr *attr)
{
	struct bpf_debug_info info = { 0 };
	const char *text = arena_strndup(hooks->arena, diags->text ? diags->text : "",
					 diags->text ? diags->text_bytes : 0);
	int fd;

	bpf_debug_info_build(&program->code, attr->prog_name, text, hooks->arena, &info);
	fd = sys_btf_load(info.btf, info.btf_bytes);
	if (fd < 0)
		return fd;
	attr->prog_btf_fd = fd;
	attr->func_info = sys_pointer(info.funcs);
	attr->func_info_cnt = info.n_funcs;
	attr->func_info_rec_size = sizeof(*info.funcs);
	attr->line_info = sys_pointer(info.lines);
	attr->line_info_cnt = info.n_lines;
	attr->line_info_rec_size = sizeof(*info.lines);
	return fd;
}

/* Loads once more, for the log; returns -errno (or a descriptor, when it now succeeds). */
static int load_with_log(const struct load_hooks *hooks, const struct load_program *program,
			 union bpf_attr *attr, struct diags *diags)
{
	char *log = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd;

	if (log == MAP_FAILED) {
		diag_failure(diags, "verifier",
			     "the kernel refused the program on %s, and there is no "
			     "memory for its log",
			     program->hook->target);
		return -ENOMEM;
	}
	attr->log_level = 1; /* each instruction */
	attr->log_buf = sys_pointer(log);
	attr->log_size = LOG_BYTES;
	fd = sys_prog_load(attr);
	if (fd < 0) {
		log[LOG_BYTES - 1] = '\0';
		verifier_diag(hooks, program, log, -fd, diags);
	}
	munmap(log, LOG_BYTES);
	return fd;
}

/*
 * "processed N insns ...", a line of the log also where it has nothing but figures (log level
 * 4, 5.2): what bpf_prog_info.verified_insns says since 5.16.
 */
static u32 n_verified(const char *log)
{
	const char *at = strstr(log, "processed ");

	return at ? (u32)strtoul(at + strlen("processed "), NULL, 10) : 0;
}

/* *ret_fd stays -1 where the function is the kernel's own. */
static int open_module(const struct hook *hook, struct diags *diags, int *ret_fd)
{
	int fd;

	*ret_fd = -1;
	if (!hook->is_typed || !hook->attach_btf)
		return 0;
	fd = sys_btf_open(hook->attach_btf);
	if (fd < 0) {
		diag_failure(diags, "attach-failed",
			     "cannot attach to %s (trampoline): %s" HINT
			     "is its module still loaded?",
			     hook->target, strerror(-fd));
		return fd;
	}
	*ret_fd = fd;
	return 0;
}

int load_program_open(struct load_hooks *hooks, struct load_program *program, struct diags *diags)
{
	const struct bpf_insn *insns = relocate(hooks, &program->code);
	char figures[FIGURES_BYTES] = "";
	union bpf_attr attr, plain_attr;
	int btf_fd, fd, module_fd;
	bool is_too_much;

	program_attr(program, insns, &plain_attr);
	fd = open_module(program->hook, diags, &module_fd);
	if (fd)
		return fd;
	plain_attr.attach_btf_obj_fd = MAX(module_fd, 0);
	plain_attr.log_level = 4;
	plain_attr.log_buf = sys_pointer(figures);
	plain_attr.log_size = sizeof(figures);
	attr = plain_attr;
	btf_fd = debug_info_add(hooks, program, diags, &attr);
	fd = sys_prog_load(&attr);
	/* A kernel that dislikes the debug information only shall run the program all the same. */
	if (fd == -EINVAL && btf_fd >= 0)
		fd = sys_prog_load(&plain_attr);
	/* Instructions walked, or branches that wait: each part alone has fewer. */
	is_too_much = fd == -E2BIG || (fd == -EFAULT && strstr(figures, "too complex"));
	if (is_too_much && hook_n_parts(program->hook) > 1)
		fd = -EFBIG;
	else if (is_too_much)
		diag_failure(
			diags, "too-much-to-verify",
			"the program on %s has more ways through than the kernel's verifier "
			"walks (1,000,000 instructions)" HINT
			"fewer aggregates, histograms or conditions; or two queries, with some of "
			"them each",
			program->hook->target);
	else if (fd < 0 && !load_refused(-fd, "load BPF programs that trace", diags))
		fd = load_with_log(hooks, program, &attr, diags);
	sys_close(&btf_fd);
	sys_close(&module_fd);
	if (fd < 0)
		return fd;
	program->fd = fd;
	program->n_verified = n_verified(figures);
	return 0;
}
