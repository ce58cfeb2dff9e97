/**
 * Records what a server writes to its disk, and makes the disks that a power failure could leave behind. Whatever was synced
 * is there. Of what was written later, any part can be: a whole write, some of its sectors, or nothing.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Random } from '../../../src/demo/world/random.ts'
import { folderOf } from '../../processes.ts'

const SECTOR_BYTES = 512
const HEADER_BYTES = 16
const KINDS = ['', 'write', 'truncate', 'sync', 'rename', 'unlink', 'create'] as const

/** A call of the server. `end` is its place in the recording; `data` has the bytes of a write, or the new name. */
type Call = { kind: (typeof KINDS)[number]; path: string; offset: number; data: Buffer; end: number }
/** The content of a file: what is synced, and the later calls. */
type File = { synced: Buffer; later: Call[] }
type Names = Map<string, File>

/** Whether a C compiler is there, which builds what is preloaded into the server. */
export const hasCompiler = (): boolean => {
  const is = spawnSync('cc', ['--version']).status === 0
  if (!is)
    process.stderr.write(
      '\n*** No C compiler (`apt-get install gcc libc6-dev`): POWER FAILURES ARE SKIPPED.\n',
    )
  return is
}

/** Builds the recorder. With `envFor`, a server records its files below `folder`. `place` is the end of the recording so far. */
export function openRecorder() {
  const own = folderOf()
  const [library, log] = [join(own, 'recorder.so'), join(own, 'calls')]
  const source = fileURLToPath(new URL('recorder.c', import.meta.url))
  const { status, stderr } = spawnSync('cc', [
    '-O2',
    '-shared',
    '-fPIC',
    '-o',
    library,
    source,
    '-ldl',
    '-lpthread',
  ])
  if (status !== 0) throw new Error(`the recorder was not built: ${stderr}`)
  return {
    envFor: (folder: string) => ({ LD_PRELOAD: library, RECORD_FOLDER: folder, RECORD_LOG: log }),
    place: (): number => statSync(log).size,
    calls: (): Call[] => callsIn(readFileSync(log)),
  }
}

function callsIn(log: Buffer): Call[] {
  const calls: Call[] = []
  for (let at = 0; at < log.length; ) {
    const path_at = at + HEADER_BYTES
    const data_at = path_at + log.readUInt16LE(at + 2)
    const end = data_at + log.readUInt32LE(at + 4)
    const kind = KINDS[log.readUInt8(at)] ?? ''
    const offset = Number(log.readBigUInt64LE(at + 8))
    const [path, data] = [log.toString('utf8', path_at, data_at), log.subarray(data_at, end)]
    calls.push({ kind, path, offset, data, end })
    at = end
  }
  return calls
}

/** A buffer with this content and room to grow, which is zero. */
function copied(content: Buffer, bytes = content.length): Buffer {
  const copy = Buffer.alloc(Math.ceil(bytes * 1.5))
  content.copy(copy)
  return copy.subarray(0, bytes)
}

/** `content` with this length. */
function resized(content: Buffer, bytes: number): Buffer {
  if (bytes <= content.length) content.fill(0, bytes)
  const { buffer, byteOffset } = content
  return byteOffset + bytes <= buffer.byteLength
    ? Buffer.from(buffer, byteOffset, bytes)
    : copied(content, bytes)
}

/** Changes `content` by a call. Returns the new content. */
const after = (content: Buffer, call: Call): Buffer => afterSectors(content, call, () => true)

/** As `after`, of a call of which only the sectors arrive for which `hasArrived` is true. */
function afterSectors(content: Buffer, { kind, offset, data }: Call, hasArrived: () => boolean): Buffer {
  if (kind === 'truncate') return resized(content, offset)
  const result = offset + data.length > content.length ? resized(content, offset + data.length) : content
  for (let from = 0; from < data.length; ) {
    const to = Math.min(data.length, from + SECTOR_BYTES - ((offset + from) % SECTOR_BYTES))
    if (hasArrived()) data.copy(result, offset + from, from, to)
    from = to
  }
  return result
}

/** A disk to which calls are applied in their order. */
export function openDisk() {
  const names: Names = new Map()
  /** Names as they are after a failure, and the changes of names since. A sync of any file makes all of them sure. */
  let synced: Names = new Map()
  let later: ((names: Names) => void)[] = []

  function change(apply: (names: Names) => void): void {
    apply(names)
    later.push(apply)
  }

  /** The file of a name; one that an earlier process or no call made is empty. */
  function fileOf(path: string): File {
    const file = names.get(path) ?? { synced: Buffer.alloc(0), later: [] }
    if (!names.has(path)) change((all) => all.set(path, file))
    return file
  }

  function sync(path: string): void {
    const file = names.get(path)
    if (file) {
      for (const call of file.later) file.synced = after(file.synced, call)
      file.later = []
    }
    synced = new Map(names)
    later = []
  }

  return {
    apply(call: Call): void {
      const { kind, path, data } = call
      if (kind === 'write' || kind === 'truncate') fileOf(path).later.push(call)
      if (kind === 'sync') sync(path)
      if (kind === 'unlink') change((all) => all.delete(path))
      if (kind === 'create') {
        const file = { synced: Buffer.alloc(0), later: [] }
        change((all) => all.set(path, file))
      }
      if (kind === 'rename') {
        const file = fileOf(path)
        change((all) => all.delete(path) && all.set(data.toString(), file))
      }
    },
    /** Writes the files into a folder, as a failure at this moment could leave them. Without `random`, all arrived. */
    write(folder: string, random?: Random): void {
      const left = new Map(synced)
      for (const apply of later.slice(0, random?.whole(0, later.length) ?? later.length)) apply(left)
      const arriving = random ? openArriving(random) : after
      for (const [path, file] of left) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        const content = file.later.reduce(arriving, copied(file.synced))
        writeFileSync(join(folder, path), content, { mode: 0o600 })
      }
    },
  }
}

/** Returns `after` for what was not synced: all, none or some of it arrives, in whole writes or in sectors. */
function openArriving(random: Random): (content: Buffer, call: Call) => Buffer {
  const part = random.pick([0, 0.5, 0.95, 1])
  const has = (): boolean => random.chance(part)
  return random.chance(0.5)
    ? (content, call) => afterSectors(content, call, has)
    : (content, call) => (has() ? after(content, call) : content)
}
