/**
 * Executables for tests of `windfall upgrade`: an ELF file of some hundred bytes that runs a shell script, because the
 * single executable takes 120 MB. The script runs a bundle with Node.
 */
import { writeFileSync } from 'node:fs'

/** Whether this machine can run the executables. */
export const canLaunch = process.platform === 'linux' && process.arch === 'x64'
if (!canLaunch)
  process.stderr.write('\n*** The tests of windfall upgrade need Linux on x64: they are SKIPPED.\n\n')

const BASE = 0x400000
const HEADERS = 64 + 56
const SHELL = '/bin/sh\0'

/**
 * Machine code that replaces the two words `argc, argv[0]` on the stack by the addresses of the shell and of the script,
 * so that they become the begin of a new argv, and calls execve.
 */
function codeFor(at: number, script: number, shell: number): Buffer {
  const relative = (target: number, next: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32LE(target - next)
    return bytes
  }
  const parts: Buffer[] = []
  const length = () => Buffer.concat(parts).length
  const add = (...bytes: number[]) => parts.push(Buffer.from(bytes))
  const addAddress = (prefix: number[], target: number) => {
    add(...prefix)
    parts.push(relative(target, at + length() + 4))
  }
  add(0x48, 0x8b, 0x0c, 0x24) // mov rcx, [rsp]
  add(0x48, 0x8d, 0x54, 0xcc, 0x10) // lea rdx, [rsp + rcx*8 + 16]
  addAddress([0x48, 0x8d, 0x05], shell) // lea rax, [shell]
  add(0x48, 0x89, 0x04, 0x24) // mov [rsp], rax
  addAddress([0x48, 0x8d, 0x05], script) // lea rax, [script]
  add(0x48, 0x89, 0x44, 0x24, 0x08) // mov [rsp + 8], rax
  add(0x48, 0x89, 0xe6) // mov rsi, rsp
  addAddress([0x48, 0x8d, 0x3d], shell) // lea rdi, [shell]
  add(0xb8, 0x3b, 0x00, 0x00, 0x00) // mov eax, 59 (execve)
  add(0x0f, 0x05) // syscall
  return Buffer.concat(parts)
}

/** Writes an executable at `file` that runs the shell script `script`. `machine` is that of its header. */
export function writeLauncher(file: string, script: string, machine = 62): void {
  const at = BASE + HEADERS
  const codeLength = codeFor(at, 0, 0).length
  const shellAt = at + codeLength
  const code = codeFor(at, shellAt + SHELL.length, shellAt)
  const body = Buffer.concat([code, Buffer.from(`${SHELL}${script}\0`)])
  const header = Buffer.alloc(HEADERS)
  header.write('\x7fELF\x02\x01\x01', 'latin1')
  header.writeUInt16LE(2, 16) // an executable
  header.writeUInt16LE(machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(BigInt(at), 24)
  header.writeBigUInt64LE(64n, 32)
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(1, 56)
  header.writeUInt32LE(1, 64) // PT_LOAD
  header.writeUInt32LE(5, 68) // read and execute
  header.writeBigUInt64LE(BigInt(BASE), 80)
  header.writeBigUInt64LE(BigInt(BASE), 88)
  header.writeBigUInt64LE(BigInt(HEADERS + body.length), 96)
  header.writeBigUInt64LE(BigInt(HEADERS + body.length), 104)
  header.writeBigUInt64LE(0x1000n, 112)
  writeFileSync(file, Buffer.concat([header, body]), { mode: 0o755 })
}
