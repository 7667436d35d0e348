/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Instructions -> text in the notation of `bpftool prog dump xlated` and of the
 * verifier's log (kernel/bpf/disasm.c), with the piece of the query that each
 * run of instructions comes from.
 */
#include <string.h>

#include "bpf/ir.h"

/* Indexed by BPF_SIZE() >> 3: W, H, B, DW. */
static const char *const size_text[] = { "u32", "u16", "u8", "u64" };
static const char *const signed_text[] = { "s32", "s16", "s8", "s64" };

static const char *condition_name(u8 code)
{
	for (u32 i = 0; i < IR_CONDITION_N; i++)
		if (ir_conditions[i].code == code)
			return ir_conditions[i].name;
	return "?";
}

static const char *alu_name(u8 code, s16 off)
{
	for (u32 i = 0; i < IR_ALU_N; i++)
		if (ir_alus[i].code == code && ir_alus[i].off == off)
			return ir_alus[i].name;
	return code == BPF_MOV ? "" : "?";
}

static void put_alu(const struct bpf_insn *insn, struct buf *out)
{
	char reg = BPF_CLASS(insn->code) == BPF_ALU64 ? 'r' : 'w';
	u8 op = BPF_OP(insn->code);

	if (op == BPF_END) {
		buf_printf(out, "r%u = %s%d r%u", insn->dst_reg,
			   BPF_SRC(insn->code) == BPF_TO_BE ? "be" : "le", insn->imm,
			   insn->dst_reg);
		return;
	}
	buf_printf(out, "%c%u", reg, insn->dst_reg);
	if (op == BPF_NEG) {
		buf_printf(out, " = -%c%u", reg, insn->dst_reg);
		return;
	}
	buf_printf(out, " %s= ", alu_name(op, insn->off));
	if (op == BPF_MOV && BPF_SRC(insn->code) == BPF_X && insn->off)
		buf_printf(out, "(s%d)", insn->off);
	if (BPF_SRC(insn->code) == BPF_X)
		buf_printf(out, "%c%u", reg, insn->src_reg);
	else
		buf_printf(out, "%d", insn->imm);
}

static void put_atomic(const struct bpf_insn *insn, struct buf *out)
{
	const char *size = size_text[BPF_SIZE(insn->code) >> 3];
	const char *bits = BPF_SIZE(insn->code) == BPF_DW ? "64" : "";

	if (insn->imm == BPF_ADD)
		buf_printf(out, "lock *(%s *)(r%u %+d) += r%u", size, insn->dst_reg, insn->off,
			   insn->src_reg);
	else if (insn->imm == (BPF_ADD | BPF_FETCH) || insn->imm == BPF_XCHG)
		buf_printf(out, "r%u = atomic%s_%s((%s *)(r%u %+d), r%u)", insn->src_reg, bits,
			   insn->imm == BPF_XCHG ? "xchg" : "fetch_add", size, insn->dst_reg,
			   insn->off, insn->src_reg);
	else if (insn->imm == BPF_CMPXCHG)
		buf_printf(out, "r0 = atomic%s_cmpxchg((%s *)(r%u %+d), r0, r%u)", bits, size,
			   insn->dst_reg, insn->off, insn->src_reg);
	else
		buf_printf(out, "atomic_%#x((%s *)(r%u %+d), r%u)", (u32)insn->imm, size,
			   insn->dst_reg, insn->off, insn->src_reg);
}

static void put_memory(const struct bpf_insn *insn, struct buf *out)
{
	const char *size = size_text[BPF_SIZE(insn->code) >> 3];

	if (BPF_CLASS(insn->code) == BPF_LDX) {
		if (BPF_MODE(insn->code) == BPF_MEMSX)
			size = signed_text[BPF_SIZE(insn->code) >> 3];
		buf_printf(out, "r%u = *(%s *)(r%u %+d)", insn->dst_reg, size, insn->src_reg,
			   insn->off);
	} else if (BPF_CLASS(insn->code) == BPF_ST) {
		buf_printf(out, "*(%s *)(r%u %+d) = %d", size, insn->dst_reg, insn->off, insn->imm);
	} else if (BPF_MODE(insn->code) == BPF_ATOMIC) {
		put_atomic(insn, out);
	} else {
		buf_printf(out, "*(%s *)(r%u %+d) = r%u", size, insn->dst_reg, insn->off,
			   insn->src_reg);
	}
}

static void put_jump(const struct bpf_insn *insn, struct buf *out)
{
	u8 op = BPF_OP(insn->code);
	const char *text = condition_name(op);

	if (op == BPF_EXIT) {
		buf_puts(out, "exit");
	} else if (op == BPF_JA) {
		buf_printf(out, "goto pc%+d", insn->off);
	} else if (op == BPF_CALL) {
		bool is_helper = insn->src_reg != BPF_PSEUDO_KFUNC_CALL;
		const char *name = is_helper ? ir_helper_name((u32)insn->imm) : NULL;

		buf_printf(out, "call %s%s#%d",
			   !is_helper ? "kernel"
			   : name     ? "bpf_"
				      : "unknown",
			   name ? name : "", insn->imm);
	} else if (BPF_SRC(insn->code) == BPF_X) {
		buf_printf(out, "if r%u %s r%u goto pc%+d", insn->dst_reg, text, insn->src_reg,
			   insn->off);
	} else {
		buf_printf(out, "if r%u %s 0x%x goto pc%+d", insn->dst_reg, text, (u32)insn->imm,
			   insn->off);
	}
}

static void put_wide(const struct bpf_code *code, u32 at, struct buf *out)
{
	const struct bpf_insn *insn = &code->insns[at];
	u64 imm = (u32)insn[0].imm | (u64)(u32)insn[1].imm << 32;

	for (u32 i = 0; i < code->n_relocs; i++) {
		const struct bpf_reloc *reloc = &code->relocs[i];

		if (reloc->insn != at)
			continue;
		buf_printf(out, "r%u = map[%u]", insn->dst_reg, reloc->map);
		if (reloc->kind == BPF_RELOC_MAP_VALUE)
			buf_printf(out, "[0]%+d", insn[1].imm);
		return;
	}
	buf_printf(out, "r%u = 0x%llx", insn->dst_reg, (unsigned long long)imm);
}

static bool is_wide(const struct bpf_code *code, u32 at)
{
	return code->insns[at].code == (BPF_LD | BPF_IMM | BPF_DW) && at + 1 < code->n_insns;
}

static void put_insn(const struct bpf_code *code, u32 at, struct buf *out)
{
	const struct bpf_insn *insn = &code->insns[at];

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		put_alu(insn, out);
		break;
	case BPF_JMP:
		put_jump(insn, out);
		break;
	case BPF_LD:
		if (is_wide(code, at)) {
			put_wide(code, at, out);
			break;
		}
		/* fall through */
	case BPF_JMP32:
		buf_printf(out, "unknown code %#04x", insn->code);
		break;
	default:
		put_memory(insn, out);
		break;
	}
}

/* "; query:COL fragment", on one line and not too long. */
static void put_fragment(const char *query_text, size_t text_bytes, struct span span,
			 struct buf *out)
{
	u32 line_start = span.start;
	u32 end = MIN(span.end, (u32)MIN(text_bytes, (size_t)UINT32_MAX));

	if (span.start >= end)
		return;
	while (line_start > 0 && query_text[line_start - 1] != '\n')
		line_start--;
	buf_printf(out, " ; query:%u ", span.start - line_start + 1);
	if (end - span.start > 60)
		end = span.start + 60;
	/* Never half of a UTF-8 character. */
	while (end > span.start && end < text_bytes && ((u8)query_text[end] & 0xc0) == 0x80)
		end--;
	for (u32 i = span.start; i < end; i++)
		buf_putc(out, (u8)query_text[i] < ' ' ? ' ' : query_text[i]);
}

void bpf_disassemble(const struct bpf_code *code, const char *query_text, struct buf *out)
{
	struct span last = { 0, 0 };
	size_t text_bytes = query_text ? strlen(query_text) : 0;

	for (u32 i = 0; i < code->n_insns; i++) {
		struct span span = code->spans ? code->spans[i] : last;
		size_t line_start = out->n;

		buf_printf(out, "%4u: (%02x) ", i, code->insns[i].code);
		put_insn(code, i, out);
		if (query_text && (span.start != last.start || span.end != last.end)) {
			if (out->n - line_start < 44)
				buf_fill(out, ' ', 44 - (out->n - line_start));
			put_fragment(query_text, text_bytes, span, out);
		}
		last = span;
		buf_putc(out, '\n');
		if (is_wide(code, i))
			i++;
	}
}
