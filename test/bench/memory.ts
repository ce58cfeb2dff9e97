/** Reads the memory and the processor time of a process from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

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

/** Returns the processor time of all threads so far in ms, of which the kernel knows the microseconds; null without /proc. */
export function readProcessorTime(pid: number): number | null {
  try {
    const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    )
    return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6
  } catch {
    return null
  }
}
