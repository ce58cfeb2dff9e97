/** How much memory a process holds, as the kernel counts it. */
import { readFileSync } from 'node:fs'

/** `resident` now, or the most that it ever was (`peak`), in MiB; null where there is no /proc. */
export function memoryOf(pid: number, what: 'resident' | 'peak'): number | null {
  const name = what === 'resident' ? 'VmRSS' : 'VmHWM'
  try {
    const [, kilobytes] =
      new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return null
  }
}
