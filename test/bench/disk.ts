/** Measures the fsync time of four kilobytes, which determines the gain of group commit. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { short } from './figures.ts'

const PAGES = 256
const WRITES = 500

/** In words, measured on `file`, which is gone afterwards: overwritten in place, as a write-ahead log mostly is. */
export function diskInWords(file: string): string {
  const page = Buffer.alloc(4096, 1)
  const descriptor = openSync(file, 'w')
  const took: number[] = []
  try {
    for (let at = 0; at < PAGES; at += 1) writeSync(descriptor, page, 0, page.length, at * page.length)
    fdatasyncSync(descriptor)
    for (let written = 0; written < WRITES; written += 1) {
      writeSync(descriptor, page, 0, page.length, (written % PAGES) * page.length)
      const began = performance.now()
      fdatasyncSync(descriptor)
      took.push(performance.now() - began)
    }
  } finally {
    closeSync(descriptor)
    rmSync(file)
  }
  took.sort((a, b) => a - b)
  const at = (part: number): string => short(took[Math.floor(took.length * part)] ?? Number.NaN)
  return `fdatasync of 4 KiB on this disk: ${at(0.5)} ms, p99 ${at(0.99)} ms`
}
