/**
 * Watches the free disk space. Below a floor, ingest is refused, before SQLite has to refuse every write. When the disk
 * is full nevertheless, a ballast file is deleted, so that the owner can sign in and the log can be checkpointed.
 */
import { randomFill } from 'node:crypto'
import { renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { Refusal } from '../../errors.ts'
import { reasonOf, type Warn } from '../warnings.ts'

const fillRandomly = promisify<Buffer, Buffer>(randomFill)

const MEGABYTE = 1_048_576
const BALLAST_BYTES = 16 * MEGABYTE
/** With less free space, the ballast file is deleted: other programs are filling the disk. */
const RESERVE_BYTES = 4 * MEGABYTE
/** With less free space, ingest is refused. */
const FLOOR_BYTES = 16 * MEGABYTE
const RETRY_AFTER_SECONDS = 60

/** The path of the ballast file, which is deleted when the disk is full. */
export const ballastOf = (database: string): string => `${database}.ballast`

/** The free bytes in the file system of `folder`. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

export type FreeBytes = typeof freeBytesOf

type Options = { warn: Warn; freeBytes: FreeBytes }

/**
 * Watches the free space for `file`. Does nothing before the first `look`, so that only a serving process has ballast.
 */
export function openDiskSpace(file: string, { warn, freeBytes }: Options) {
  const ballast = ballastOf(file)
  let isLow = false
  let filling: Promise<void> | null = null
  let isClosed = false

  const hasBallast = (): boolean => statSync(ballast, { throwIfNoEntry: false })?.size === BALLAST_BYTES

  /** Checks the free space, and writes the ballast file if there is room. Call it about every second. */
  function look(): void {
    if (filling !== null) return
    try {
      judge(freeBytes(dirname(file)), hasBallast())
    } catch {
      // The folder is gone or not accessible; writes to the open database report that better.
    }
  }

  function judge(free: number, isBallasted: boolean): void {
    const needed = isBallasted ? FLOOR_BYTES : FLOOR_BYTES + BALLAST_BYTES
    noteLow(free < needed, free)
    if (isBallasted && free < RESERVE_BYTES) return giveUp()
    if (!isBallasted && !isLow) fill()
  }

  function noteLow(low: boolean, free: number): void {
    if (low !== isLow) {
      const fields = { free_mb: Math.floor(free / MEGABYTE) }
      if (low) warn('the disk is nearly full: notifications and calls get 503', fields)
      else warn('the disk has enough free space again: notifications and calls are accepted', fields)
    }
    isLow = low
  }

  function fill(): void {
    filling = write()
      .catch((error: unknown) => {
        rmSync(`${ballast}.partial`, { force: true })
        warn('the ballast file could not be written', { reason: reasonOf(error) })
      })
      .finally(() => {
        filling = null
      })
  }

  /** Writes random bytes, so that a file system cannot compress them. */
  async function write(): Promise<void> {
    const handle = await open(`${ballast}.partial`, 'w', 0o600)
    try {
      const chunk = Buffer.alloc(MEGABYTE)
      for (let written = 0; written < BALLAST_BYTES && !isClosed; written += MEGABYTE)
        await handle.write(await fillRandomly(chunk))
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (isClosed) rmSync(`${ballast}.partial`)
    else renameSync(`${ballast}.partial`, ballast)
  }

  /** Deletes the ballast file on a full disk. Ingest stays refused until there is room for the ballast again. */
  function giveUp(): void {
    try {
      if (!hasBallast()) return
      rmSync(ballast)
    } catch (error) {
      return warn('the ballast file could not be deleted', { reason: reasonOf(error) })
    }
    isLow = true
    warn('the disk is full: the ballast file was deleted', { bytes: BALLAST_BYTES })
  }

  /** @throws Refusal 503 `disk_full` while there is too little free space for ingest. */
  function assertFreeSpace(): void {
    if (!isLow) return
    throw new Refusal(503, 'disk_full', 'the disk is nearly full; nothing was stored', {
      headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    })
  }

  /** Stops writing ballast. An existing ballast file stays for the next start. */
  async function close(): Promise<void> {
    isClosed = true
    await filling
  }

  /** @throws Refusal 507 `no_room` when fewer than `bytes` are free in addition to the floor and the ballast. */
  function assertFreeSpaceFor(bytes: number): void {
    const free = freeBytes(dirname(file)) - FLOOR_BYTES - BALLAST_BYTES
    if (free >= bytes) return
    const [need, have] = [bytes, Math.max(0, free)].map((one) => Math.ceil(one / MEGABYTE))
    throw new Refusal(507, 'no_room', `${file} needs ${need} MB, but only ${have} MB are free`)
  }

  return { look, giveUp, assertFreeSpace, assertFreeSpaceFor, isLow: () => isLow, close }
}
