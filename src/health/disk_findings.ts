/** Findings about the disk and the database file: free space, I/O errors, damage. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../clock.ts'
import { utcMinuteText } from '../days.ts'
import { DISK_FAULT_REPORTED_MS, type DiskFault } from '../store/disk/disk_faults.ts'
import type { Reader } from '../store/reader.ts'
import { type Finding, fault, ok, warning } from './findings.ts'

const MEGABYTE = 1_048_576
const MIN_FREE_MEGABYTES = 200

/** The finding for the size of the database and the free space on its disk: a fault below 200 MB. */
export function diskSpaceFinding(path: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(path))
  const free = Math.floor((bavail * bsize) / MEGABYTE)
  const words = `${path}, ${Math.ceil(statSync(path).size / MEGABYTE)} MB; ${free} MB are free.`
  if (free >= MIN_FREE_MEGABYTES) return ok('database', words)
  const details = { id: 'disk', title: 'The disk is almost full', remedy: 'Free up space.' }
  return fault('database', words, details)
}

/** Yields findings for recent disk errors and damage to the database, even if writes succeed again. */
export function* examineDisk(reader: Reader, clock: Clock): Generator<Finding> {
  const faults = reader
    .prepare<[number], DiskFault>('select * from disk_faults where last_at > ? order by kind')
    .all(clock() - DISK_FAULT_REPORTED_MS)
  for (const { kind, code, times, first_at, last_at } of faults) {
    const often = `${times === 1 ? 'once' : `${times} times`}, last on ${utcMinuteText(last_at)}`
    if (kind === 'damaged') yield damagedFinding(`${code} ${often}`, first_at)
    else {
      const words = `the disk reported an I/O error ${often} (${code}).`
      const action = { label: 'Take a backup', command: 'windfall backup' }
      const about = { id: 'disk:io_error', title: 'The disk reported an I/O error', since: first_at }
      const remedy = 'Check the disk, and take a backup: windfall backup.'
      yield warning('database', words, { ...about, action, remedy })
    }
  }
}

/** The finding for a damaged database file. `errorText` describes SQLite's error. */
export function damagedFinding(errorText: string, since: number | null = null): Finding {
  const action = { label: 'Restore a backup', command: 'windfall restore' }
  const remedy = 'Stop Windfall and restore the last good backup: windfall restore.'
  const details = { id: 'database:damaged', title: 'The database is damaged', since, action, remedy }
  return fault('database', `it is damaged (${errorText}).`, details)
}
