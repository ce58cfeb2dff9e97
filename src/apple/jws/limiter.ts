/** What we compute: who may go now, who waits, and who is told to come again, when work would pile up. */
import { Refusal } from '../../errors.ts'

/** Lets `at_once` pieces of work run together and `waiting` more stand in line, first come first served. */
export function openGate(options: { at_once: number; waiting: number }) {
  const line: (() => void)[] = []
  let running = 0

  async function enter(): Promise<void> {
    if (running < options.at_once) {
      running++
      return
    }
    if (line.length >= options.waiting) {
      const detail = 'more signatures are waiting to be checked than this machine can check in time'
      throw new Refusal(503, 'busy', detail, { headers: { 'retry-after': '1' } })
    }
    await new Promise<void>((go) => line.push(go))
  }

  /** The place of whoever leaves goes to the next in line, so that nobody overtakes. */
  function leave(): void {
    const next = line.shift()
    if (next === undefined) running--
    else next()
  }

  /** What `work` gives, once it could run. Throws Refusal 503 `busy` when the line is full. */
  async function pass<Result>(work: () => Promise<Result>): Promise<Result> {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }

  return { pass }
}
