/** Measures the fdatasync time of 4 KiB, which determines the gain of group commit. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { preciseTime } from '../../src/clock.ts'
import { formatShort } from './figures.ts'

const PAGES = 256
const WRITES = 500

/**
 * Returns the median and the p99 as text. Creates `file`, overwrites it in place, as SQLite mostly overwrites its
 * write-ahead log, and deletes it.
 */
export function describeDisk(file: string): string {
  const page = Buffer.alloc(4096, 1)
  const descriptor = openSync(file, 'w')
  const times_ms: number[] = []
  try {
    for (let at = 0; at < PAGES; at += 1) writeSync(descriptor, page, 0, page.length, at * page.length)
    fdatasyncSync(descriptor)
    for (let written = 0; written < WRITES; written += 1) {
      writeSync(descriptor, page, 0, page.length, (written % PAGES) * page.length)
      const began = preciseTime()
      fdatasyncSync(descriptor)
      times_ms.push(preciseTime() - began)
    }
  } finally {
    closeSync(descriptor)
    rmSync(file)
  }
  times_ms.sort((a, b) => a - b)
  const at = (part: number): string => formatShort(times_ms[Math.floor(times_ms.length * part)] ?? Number.NaN)
  return `fdatasync of 4 KiB on this disk: ${at(0.5)} ms, p99 ${at(0.99)} ms`
}
