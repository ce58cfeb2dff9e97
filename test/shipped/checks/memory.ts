/** Watches what is held for long: by the server its heap, resident memory and descriptors, by an open page its heap. */
import { setTimeout as pass } from 'node:timers/promises'
import type { Held, Program } from '../program.ts'

const MINUTE_MS = 60_000
/** From this minute on, what the server holds stays as it is. */
const SETTLED_MS = 15 * MINUTE_MS
const MOST = { heap_mib: 5, resident_mib: 10, descriptors: 3, page_mib: 5 }
const POLL_MS = 200

type Measured = Held & { page_mib: number }

/** Opens the watch, which begins now. Only one process is watched after `SETTLED_MS`. `page`: the MiB of its heap. */
export function openMemory(program: Pick<Program, 'measure'>, page: () => Promise<number>) {
  const began = performance.now()
  const measured: Measured[] = []
  let next = began + SETTLED_MS

  /** Waits until an instant of `performance.now`, and measures each minute. */
  async function watchUntil(instant: number): Promise<void> {
    while (performance.now() < instant) {
      if (performance.now() >= next) {
        measured.push({ ...(await program.measure()), page_mib: await page() })
        next += MINUTE_MS
      }
      await pass(Math.max(0, Math.min(POLL_MS, instant - performance.now())))
    }
  }

  /** What grew beyond its limit since the first measurement. */
  function faults(): string[] {
    const [first, last] = [measured[0], measured.at(-1)]
    if (first === undefined || last === undefined) return []
    // A single measurement may meet a burst, which the least of the last ones does not.
    const least = (of: (held: Measured) => number): number => Math.min(...measured.slice(-3).map(of))
    const grown: [string, number, (held: Measured) => number][] = [
      ['heap', MOST.heap_mib, ({ heap }) => heap ?? 0],
      ['resident memory', MOST.resident_mib, ({ resident }) => resident],
      ['descriptors', MOST.descriptors, ({ descriptors }) => descriptors],
      ['heap of the page', MOST.page_mib, ({ page_mib }) => page_mib],
    ]
    return grown.flatMap(([what, most, of]) => {
      const by = least(of) - of(first)
      const each = measured.map((held) => of(held).toFixed(1)).join(', ')
      return by > most ? [`the ${what} grew by ${by.toFixed(1)}: ${each}`] : []
    })
  }

  return { watchUntil, faults, last: (): Partial<Measured> => measured.at(-1) ?? {} }
}
