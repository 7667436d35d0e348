/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A number -> that many calls by int $0x80, which takes its numbers from the 32-bit table: from
 * this program, or from one of 32 bits that is written into memory and executed.
 */
#include "program32.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

bool program32_runs(void)
{
	int pid = fork(), status;

	if (pid == 0)
		_exit(program32_call(1) ? 1 : 0);
	return waitpid(pid, &status, 0) == pid && status == 0;
}

int program32_call(u32 n_calls)
{
	for (u32 i = 0; i < n_calls; i++) {
		long ret;

		/* As the registers are after a syscall instruction, too: rip in rcx, flags in r11.
		 */
		__asm__ volatile("pushfq; popq %%r11; leaq 1f(%%rip), %%rcx; int $0x80; 1:"
				 : "=a"(ret)
				 : "a"(PROGRAM32_CALL), "b"(0)
				 : "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
		if (ret != syscall(SYS_getsid, 0))
			return -1;
	}
	return 0;
}

/* esi times the call by int $0x80, then exit(0). */
__asm__(".pushsection .rodata\n"
	".code32\n"
	"program32: movl $0, %esi\n"
	"1: movl $147, %eax\n" /* PROGRAM32_CALL */
	"xorl %ebx, %ebx\n"
	"int $0x80\n"
	"decl %esi\n"
	"jnz 1b\n"
	"movl $1, %eax\n"
	"xorl %ebx, %ebx\n"
	"int $0x80\n"
	"program32_end:\n"
	".code64\n"
	".popsection");
extern const char program32[], program32_end[];
_Static_assert(PROGRAM32_CALL == 147, "program32 calls another");

void program32_exec(u32 n_calls)
{
	u32 bytes = (u32)(program32_end - program32), base = 0x08048000;
	struct {
		Elf32_Ehdr elf;
		Elf32_Phdr load;
		char code[256];
	} file = { .elf = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_EXEC,
			    .e_machine = EM_386,
			    .e_version = EV_CURRENT,
			    .e_entry = base + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
			    .e_phoff = sizeof(Elf32_Ehdr),
			    .e_ehsize = sizeof(Elf32_Ehdr),
			    .e_phentsize = sizeof(Elf32_Phdr),
			    .e_phnum = 1 },
		   .load = { .p_type = PT_LOAD,
			     .p_vaddr = base,
			     .p_filesz = sizeof(file),
			     .p_memsz = sizeof(file),
			     .p_flags = PF_R | PF_X,
			     .p_align = 4096 } };
	char *const args[] = { "program32", NULL };
	int fd = memfd_create("program32", 0);
	char path[32];

	BUG_ON(bytes > sizeof(file.code));
	memcpy(file.code, program32, bytes);
	memcpy(file.code + 1, &n_calls, sizeof(n_calls));
	if (fd < 0 || write(fd, &file, sizeof(file)) != sizeof(file))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	execv(path, args);
}
