/** Reads the memory of a process from /proc. */
import { readFileSync } from 'node:fs'

/** Returns the resident memory now (`resident`) or its maximum so far (`peak`) in MiB; null without /proc. */
export function readMemory(pid: number, what: 'resident' | 'peak'): number | null {
  const name = what === 'resident' ? 'VmRSS' : 'VmHWM'
  try {
    const [, kilobytes] =
      new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return null
  }
}
