/** Checks of the machine: disk space with a forecast, inodes, file system, time of a disk sync, and the clock. */

import { statfsSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { preciseTime } from '../../clock.ts'
import { replacedDatabases } from '../../store/backup/swap.ts'
import { diskSamplesSince } from '../../store/disk/samples.ts'
import { isRealApple } from '../apple/reach.ts'
import { type DoctorContext, NOT_ASKED } from '../context.ts'
import { error, type Outcome, ok, skipped, warning } from '../result.ts'
import { forecastOf } from './forecast.ts'

const DAY_MS = 86_400_000
const MEGABYTE = 1_048_576
const MIN_FREE_MEGABYTES = 200
const FORECAST_SAMPLES_MS = 30 * DAY_MS
const SOON_DAYS = 30
const MIN_FREE_INODES = 10_000

const folderOf = ({ config }: DoctorContext): string => dirname(config.store.path)

/** Whether the folder of the database exists. Before the first start, there is none. */
const hasFolder = (context: DoctorContext): boolean =>
  statSync(folderOf(context), { throwIfNoEntry: false })?.isDirectory() ?? false

const NO_FOLDER = 'The folder of the database does not exist yet.'

/** Free space of the disk with the database, and when it is used up at the rate of the last 30 days. */
export function checkDisk(context: DoctorContext): Outcome {
  if (!hasFolder(context)) return skipped(NO_FOLDER)
  const { bavail, bsize } = statfsSync(folderOf(context))
  const free = Math.floor((bavail * bsize) / MEGABYTE)
  const size = statSync(context.config.store.path, { throwIfNoEntry: false })?.size ?? 0
  const { words, days } = forecast(context, bavail * bsize)
  const detail = `The database has ${Math.ceil(size / MEGABYTE)} MB, and ${free.toLocaleString('en-US')} MB of its disk are free. ${words}${replacedText(context)}`
  if (free < MIN_FREE_MEGABYTES) return error(detail, FREE_SPACE)
  return days !== null && days < SOON_DAYS ? warning(detail, FREE_SPACE) : ok(detail)
}

/** Databases that restores replaced. Nothing deletes them, because they may have what a backup lacks. */
function replacedText({ config }: DoctorContext): string {
  const { files, bytes } = replacedDatabases(config.store.path)
  if (files.length === 0) return ''
  const size = `${Math.ceil(bytes / MEGABYTE).toLocaleString('en-US')} MB`
  const [are, them] =
    files.length === 1
      ? ['A database that a restore replaced uses', 'it']
      : [`${files.length} databases that restores replaced use`, 'them']
  return ` ${are} ${size}: ${files.toSorted().join(', ')}. Delete ${them} when you no longer need ${them}.`
}

const FREE_SPACE =
  'Free up space or enlarge the disk. Old backups in the folder of backups can be moved to another machine.'

function forecast({ reader, clock }: DoctorContext, free_bytes: number) {
  const now = clock()
  const samples = reader === null ? [] : diskSamplesSince(reader, now - FORECAST_SAMPLES_MS)
  return forecastOf(samples, { sampled_at: now, free_bytes })
}

/** Free inodes: without one, no file can be created, even if there is free space. */
export function checkInodes(context: DoctorContext): Outcome {
  if (!hasFolder(context)) return skipped(NO_FOLDER)
  const { files, ffree } = statfsSync(folderOf(context))
  if (files === 0) return ok('The file system creates inodes as needed and reports no limit.')
  const detail = `${ffree.toLocaleString('en-US')} of ${files.toLocaleString('en-US')} inodes are free.`
  if (ffree >= MIN_FREE_INODES) return ok(detail)
  const remedy = 'Delete folders with many small files, such as caches and old logs.'
  return ffree === 0 ? error(detail, remedy) : warning(detail, remedy)
}

/** File systems by the number that statfs reports (Linux: statfs(2), linux/magic.h). */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'XFS',
  2435016766: 'Btrfs',
  801189825: 'ZFS',
  4076150800: 'F2FS',
  16914836: 'tmpfs',
  2240043254: 'ramfs',
  2035054128: 'overlay',
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  1702057286: 'FUSE',
  16914839: '9P',
}
const IN_MEMORY = new Set(['tmpfs', 'ramfs'])
const NETWORKED = new Set(['NFS', 'SMB', 'CIFS', 'SMB2', '9P'])

/** The kind of file system: SQLite's log needs a local one, and data must survive a restart of the machine. */
export function checkFileSystem(context: DoctorContext): Outcome {
  if (!hasFolder(context)) return skipped(NO_FOLDER)
  if (process.platform !== 'linux') return skipped('The kind of file system can be determined on Linux only.')
  const type = statfsSync(folderOf(context)).type
  const name = FILE_SYSTEMS[type]
  if (name === undefined) return ok(`Unknown kind of file system (0x${type.toString(16)}).`)
  if (IN_MEMORY.has(name))
    return error(`${name} keeps the database in memory: a restart of the machine loses it.`, MOVE)
  if (NETWORKED.has(name))
    return error(`${name} is a network file system. Its locks do not protect SQLite’s write-ahead log.`, MOVE)
  if (name === 'overlay')
    return warning('The database is in a layer of a container, which is deleted with the container.', VOLUME)
  if (name === 'FUSE')
    return warning(
      'FUSE: whether a sync reaches the disk depends on the program behind the file system.',
      MOVE,
    )
  return ok(`${name}.`)
}

const MOVE =
  'Stop Windfall, move the database with its files `-wal`, `windfall.key` and `instance` to a local disk, and set `store.path`.'
const VOLUME = 'Mount a volume at the folder of the database.'

const SYNCS = 50
const SLOW_SYNC_MS = 20
const FAST_SYNC_MS = 0.15

/** The time of a disk sync. Each stored notification waits for one. */
export async function checkSync(context: DoctorContext): Promise<Outcome> {
  if (!hasFolder(context)) return skipped(NO_FOLDER)
  const times = await timeSyncs(`${context.config.store.path}.sync-${process.pid}`)
  const [median = 0, slowest = 0] = [times[Math.floor(times.length / 2)], times.at(-1)]
  const detail = `${SYNCS} syncs of 4 KB: median ${median.toFixed(2)} ms, slowest ${slowest.toFixed(2)} ms.`
  if (median > SLOW_SYNC_MS)
    return warning(`${detail} Each stored notification waits for one.`, 'Move the database to an SSD.')
  if (median >= FAST_SYNC_MS) return ok(detail)
  const remedy =
    'Nothing, if the disk keeps its cache on a power failure. Otherwise disable the write cache, or ask the provider of the server.'
  return ok(`${detail} So short a time means that a cache answers and not the disk.`, { remedy })
}

/** Appends to a temporary file beside the database and syncs it. Returns the sorted times in milliseconds. */
async function timeSyncs(path: string): Promise<number[]> {
  const handle = await open(path, 'wx', 0o600)
  try {
    const block = Buffer.alloc(4_096)
    const times: number[] = []
    for (let sync = 0; sync < SYNCS; sync += 1) {
      await handle.write(block)
      const began = preciseTime()
      await handle.datasync()
      times.push(preciseTime() - began)
    }
    return times.sort((a, b) => a - b)
  } finally {
    await handle.close()
    await rm(path, { force: true })
  }
}

/** Clock differences in milliseconds at which Apple starts to reject tokens, and above which to warn. */
const CLOCK_ERROR_MS = 60_000
const CLOCK_WARNING_MS = 5_000

/** The clock of this machine, compared with Apple's. */
export async function checkClock({ hosts, asksApple, appleReach }: DoctorContext): Promise<Outcome> {
  if (!asksApple) return skipped(NOT_ASKED)
  const reach = await appleReach()
  const other = isRealApple(hosts) ? 'Apple’s' : 'the demo’s'
  if (reach.ahead_ms === null) {
    const isReached = reach.hosts.some(({ problem }) => problem === null)
    const detail = isReached ? 'No answer contains a time.' : 'No host of Apple can be reached.'
    return skipped(`${detail} The clock is not compared.`)
  }
  const seconds = Math.round(Math.abs(reach.ahead_ms) / 1000)
  const direction = reach.ahead_ms > 0 ? 'ahead of' : 'behind'
  const detail = `The clock of this machine is ${seconds} s ${direction} ${other}.`
  const remedy = 'Synchronize the clock with NTP: `timedatectl set-ntp true`.'
  if (Math.abs(reach.ahead_ms) > CLOCK_ERROR_MS)
    return error(`${detail} Apple refuses requests with such a clock.`, remedy)
  if (Math.abs(reach.ahead_ms) > CLOCK_WARNING_MS) return warning(detail, remedy)
  return ok(`The clock agrees with ${other}.`)
}
