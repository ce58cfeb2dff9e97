/** The executable that `windfall upgrade` installs: its checksum, its architecture and its version. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs'
import { basename } from 'node:path'
import { codeOf } from '../../config/sources/files.ts'
import { Refusal } from '../../errors.ts'
import { textAt } from '../../store/disk/paths.ts'

/** An executable beside the installed one, checked. */
export type Candidate = { file: string; sha256: string; version: string }

const SHA256 = /^[0-9a-f]{64}$/

/**
 * The SHA-256 that `file` must have: `given`, or the first word of the file `FILE.sha256` beside it.
 *
 * @throws Refusal 404 `no_executable`, 404 `no_checksum`, 400 `invalid_checksum`
 */
export function expectedSha256(file: string, given: string | undefined): string {
  if (!existsSync(file)) throw new Refusal(404, 'no_executable', `there is no file ${file}`)
  const beside = `${file}.sha256`
  const text = given ?? textAt(beside)
  if (text === null)
    throw new Refusal(
      404,
      'no_checksum',
      `there is no file ${beside}. Download it from where ${basename(file)} comes from, or pass the checksum as --sha256`,
    )
  const word = text.trim().split(/\s/)[0]?.toLowerCase() ?? ''
  if (SHA256.test(word)) return word
  throw new Refusal(
    400,
    'invalid_checksum',
    `${given === undefined ? `${beside} does not begin with` : '--sha256 is not'} a SHA-256 of 64 hexadecimal digits`,
  )
}

/**
 * Copies `file` to `staged`, beside the installed program, and checks the copy, so that the file which was checked is the
 * one that is installed. Leaves no copy that it refuses.
 *
 * @throws Refusal 404 `no_executable`, 403 `not_writable`, 400 `wrong_checksum`, `wrong_architecture` or `not_windfall`.
 */
export function stage(file: string, staged: string, sha256: string): Candidate {
  copyExecutable(file, staged)
  try {
    const actual = sha256Of(staged)
    if (actual !== sha256)
      throw new Refusal(
        400,
        'wrong_checksum',
        `${file} has the SHA-256 ${actual}, not ${sha256}: the download is damaged or is another file. Download it again`,
      )
    assertArchitecture(file, staged)
    return { file: staged, sha256, version: versionOf(staged) }
  } catch (error) {
    rmSync(staged, { force: true })
    throw error
  }
}

function copyExecutable(file: string, staged: string): void {
  try {
    rmSync(staged, { force: true })
    copyFileSync(file, staged)
    chmodSync(staged, 0o755)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') throw new Refusal(404, 'no_executable', `there is no file ${file}`)
    const advice = code === 'ENOSPC' ? 'free some space on that disk' : 'run this command as root'
    throw new Refusal(403, 'not_writable', `${staged} cannot be written (${code}): ${advice}`)
  }
}

/** The SHA-256 of a file. */
export const sha256Of = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')

/** The machines in the header of an ELF file (https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html). */
const MACHINES: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' }
const HEADER_BYTES = 20

/** @throws Refusal 400 `wrong_architecture` if `staged` is not an executable for this machine. */
function assertArchitecture(file: string, staged: string): void {
  const header = Buffer.alloc(HEADER_BYTES)
  const handle = openSync(staged, 'r')
  try {
    readSync(handle, header, 0, HEADER_BYTES, 0)
  } finally {
    closeSync(handle)
  }
  const isElf = header.toString('latin1', 0, 4) === '\u007fELF' && header[4] === 2 && header[5] === 1
  const machine = isElf ? MACHINES[header.readUInt16LE(18)] : undefined
  if (machine === process.arch) return
  throw new Refusal(
    400,
    'wrong_architecture',
    isElf
      ? `${file} is for ${machine ?? 'another architecture'}, and this machine is ${process.arch}: download linux-${process.arch}`
      : `${file} is not a Linux executable`,
  )
}

/** The version that `program` prints. @throws Refusal 400 `not_windfall` */
function versionOf(program: string): string {
  const { error, status, stdout, stderr } = spawnSync(program, ['--version', '--json'], { encoding: 'utf8' })
  try {
    const { windfall } = JSON.parse(stdout) as { windfall?: unknown }
    if (status === 0 && typeof windfall === 'string') return windfall
  } catch {
    // The refusal below shows what the program printed.
  }
  const reason = error?.message ?? (`${stdout}${stderr}`.trim().slice(0, 500) || 'nothing')
  throw new Refusal(
    400,
    'not_windfall',
    `the file is not a Windfall executable: --version --json prints ${reason}`,
  )
}

/** Whether version `one` is older than `other`. A version with a suffix, such as 1.0.0-rc.1, is older than without. */
export function isOlder(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)]
  for (let index = 0; index < 3; index += 1) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0)
    if (difference !== 0) return difference < 0
  }
  if (a.suffix === b.suffix) return false
  return b.suffix === '' || (a.suffix !== '' && a.suffix < b.suffix)
}

function partsOf(version: string): { numbers: number[]; suffix: string } {
  const [core = '', ...rest] = version.split('-')
  return { numbers: core.split('.').map(Number), suffix: rest.join('-') }
}
