# The ROM of the emulated machine: reads a disk's parts into memory and enters a 64-bit Linux kernel. No BIOS.
# emulate.py fills in the table of parts (first sector, sectors, address; ends with 0 sectors) and the addresses.
# Linked at 0xf0000, 64 KiB; the processor begins at the last 16 bytes.
        .code16
        .globl _start
_start:
        cli
        movw    $0xf000, %ax
        movw    %ax, %ds
        lgdtl   gdt_pointer - 0xf0000
        movl    %cr0, %eax
        orl     $1, %eax
        movl    %eax, %cr0
        ljmpl   $0x08, $protected
        .balign 8
gdt:    .quad   0
        .quad   0x00cf9b000000ffff              # 0x08: 32-bit code
        .quad   0x00af9b000000ffff              # 0x10: 64-bit code
        .quad   0x00cf93000000ffff              # 0x18: data
gdt_pointer:
        .word   gdt_pointer - gdt - 1
        .long   gdt

        .code32
protected:
        movw    $0x18, %ax
        movw    %ax, %ds
        movw    %ax, %es
        movw    %ax, %ss
        movl    $0x7000, %esp
        inb     $0x92, %al                      # A20
        orb     $2, %al
        outb    %al, $0x92
        movl    $parts, %esi
part:   movl    (%esi), %ebx                    # next sector
        movl    4(%esi), %ebp                   # sectors left
        movl    8(%esi), %edi                   # address
        addl    $12, %esi
        testl   %ebp, %ebp
        jz      loaded
piece:  movl    $128, %ecx
        cmpl    %ecx, %ebp
        jae     1f
        movl    %ebp, %ecx
1:      call    idle
        movl    %ebx, %eax                      # a read of %cl sectors by LBA28
        shrl    $24, %eax
        orb     $0xe0, %al
        movw    $0x1f6, %dx
        outb    %al, %dx
        movb    %cl, %al
        movw    $0x1f2, %dx
        outb    %al, %dx
        movl    %ebx, %eax
        incl    %edx
        outb    %al, %dx
        shrl    $8, %eax
        incl    %edx
        outb    %al, %dx
        shrl    $8, %eax
        incl    %edx
        outb    %al, %dx
        movw    $0x1f7, %dx
        movb    $0x20, %al
        outb    %al, %dx
        addl    %ecx, %ebx
        subl    %ecx, %ebp
2:      call    idle
        testb   $8, %al
        jz      2b
        pushl   %ecx
        movl    $256, %ecx
        movw    $0x1f0, %dx
        rep insw
        popl    %ecx
        decl    %ecx
        jnz     2b
        testl   %ebp, %ebp
        jnz     piece
        jmp     part
idle:   movw    $0x1f7, %dx
3:      inb     %dx, %al
        testb   $0x80, %al
        jnz     3b
        ret

loaded: cld                                     # 4 GiB mapped one to one: tables at 0x10000
        movl    $0x10000, %edi
        xorl    %eax, %eax
        movl    $0x6000 / 4, %ecx
        rep stosl
        movl    $0x11003, 0x10000
        movl    $0x11000, %edi
        movl    $0x12003, %eax
4:      movl    %eax, (%edi)
        addl    $8, %edi
        addl    $0x1000, %eax
        cmpl    $0x16003, %eax
        jb      4b
        movl    $0x12000, %edi
        movl    $0x83, %eax
5:      movl    %eax, (%edi)
        addl    $8, %edi
        addl    $0x200000, %eax
        jnc     5b
        movl    %cr4, %eax
        orl     $0x20, %eax                     # PAE
        movl    %eax, %cr4
        movl    $0x10000, %eax
        movl    %eax, %cr3
        movl    $0xc0000080, %ecx
        rdmsr
        orl     $0x100, %eax
        wrmsr
        movl    %cr0, %eax
        orl     $0x80000000, %eax
        movl    %eax, %cr0
        ljmpl   $0x10, $long_mode
        .code64
long_mode:
        movl    boot_params, %esi
        movl    entry, %eax
        jmp     *%rax

        .org    0xf000
boot_params:
        .long   0
entry:  .long   0
parts:  .space  32 * 12
        .org    0xfff0
        .code16
        ljmp    $0xf000, $0
        .org    0x10000
