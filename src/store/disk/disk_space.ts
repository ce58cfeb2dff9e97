/**
 * Watches the free disk space. Below a minimum, ingest is refused, so that SQLite does not have to refuse every write.
 * If the disk is full nevertheless, a ballast file is deleted, so that the owner can sign in and the log can be
 * checkpointed.
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
/** Below this free space, the ballast file is deleted, because other programs are filling the disk. */
const RESERVE_BYTES = 4 * MEGABYTE
/** Below this free space, ingest is refused. */
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
 * Watches the free space for `file`. Does nothing before the first `check`, so that only a serving process writes a
 * ballast file.
 */
export function openDiskSpace(file: string, { warn, freeBytes }: Options) {
  const ballast = ballastOf(file)
  let isLow = false
  let writing: Promise<void> | null = null
  let isClosed = false

  const hasBallast = (): boolean => statSync(ballast, { throwIfNoEntry: false })?.size === BALLAST_BYTES

  /** Checks the free space, and writes the ballast file if there is enough. Call it about every second. */
  function check(): void {
    if (writing !== null) return
    try {
      applyFreeSpace(freeBytes(dirname(file)), hasBallast())
    } catch {
      // The folder is missing or not accessible. The errors of database writes describe that better.
    }
  }

  function applyFreeSpace(free_bytes: number, hasBallastFile: boolean): void {
    const needed_bytes = hasBallastFile ? FLOOR_BYTES : FLOOR_BYTES + BALLAST_BYTES
    setLow(free_bytes < needed_bytes, free_bytes)
    if (hasBallastFile && free_bytes < RESERVE_BYTES) return deleteBallast()
    if (!hasBallastFile && !isLow) startWriting()
  }

  function setLow(low: boolean, free_bytes: number): void {
    if (low !== isLow) {
      const fields = { free_mb: Math.floor(free_bytes / MEGABYTE) }
      if (low) warn('the disk is nearly full: notifications and calls get 503', fields)
      else warn('the disk has enough free space again: notifications and calls are accepted', fields)
    }
    isLow = low
  }

  function startWriting(): void {
    writing = writeBallast()
      .catch((error: unknown) => {
        rmSync(`${ballast}.partial`, { force: true })
        warn('the ballast file could not be written', { reason: reasonOf(error) })
      })
      .finally(() => {
        writing = null
      })
  }

  /** Writes random bytes, so that a file system cannot compress them. */
  async function writeBallast(): Promise<void> {
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

  /** Deletes the ballast file on a full disk. Ingest stays refused until there is space for the file again. */
  function deleteBallast(): void {
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

  /** Stops writing the ballast file. An existing file stays for the next start. */
  async function close(): Promise<void> {
    isClosed = true
    await writing
  }

  /** @throws Refusal 507 `no_room` when less than `bytes` is free in addition to the minimum and the ballast file. */
  function assertFreeSpaceFor(bytes: number): void {
    const free_bytes = freeBytes(dirname(file)) - FLOOR_BYTES - BALLAST_BYTES
    if (free_bytes >= bytes) return
    const [need, have] = [bytes, Math.max(0, free_bytes)].map((one) => Math.ceil(one / MEGABYTE))
    throw new Refusal(507, 'no_room', `${file} needs ${need} MB, but only ${have} MB are free`)
  }

  return { check, deleteBallast, assertFreeSpace, assertFreeSpaceFor, isLow: () => isLow, close }
}
