/**
 * A folder for temporary files in memory. Most of the time of a short transaction is its sync to the disk, which a test
 * cannot observe. The fault suite keeps its files on the disk.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const SHARED_MEMORY = '/dev/shm'
/** What the files of a run and its browsers may take, in bytes. */
const NEEDED_BYTES = 6_000_000_000
const NAME = /^windfall-(\d+)$/

/** Whether a line of /proc/self/mounts is shared memory from which programs can run. */
const isUsable = (line: string): boolean => {
  const [, folder, type, options = ''] = line.split(' ')
  return folder === SHARED_MEMORY && type === 'tmpfs' && /\brw\b/.test(options) && !/\bnoexec\b/.test(options)
}

function hasRoom(): boolean {
  const mounts = process.platform === 'linux' ? readFileSync('/proc/self/mounts', 'utf8').split('\n') : []
  if (!mounts.some(isUsable)) return false
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return Math.min(bavail * bsize, freemem()) >= NEEDED_BYTES
}

/** Removes the folders of runs that were killed. */
function sweep(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const [, pid] = NAME.exec(name) ?? []
    if (pid && !existsSync(`/proc/${pid}`))
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true })
  }
}

/** Keeps temporary files of this process and its children in memory, unless `TMPDIR` is set or memory is short. */
export function useMemoryFolder(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return
  sweep()
  const folder = join(SHARED_MEMORY, `windfall-${process.pid}`)
  mkdirSync(folder, { mode: 0o700 })
  process.env.TMPDIR = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
