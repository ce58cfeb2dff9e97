/** Measures the turns of the event loop during some work, in CPU time of the main thread. */
import { isLong } from './random.ts'

/** The limit of a turn in ms. The short form allows three times as much, because other work shares the machine. */
export const LONGEST_TURN_MS = isLong ? 50 : 150

/** The processor time of this thread so far, in ms. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Runs `work` and returns the processor time of the longest turn of the event loop meanwhile, in ms. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let isOver = false
  let longest = 0
  let last = processorMs()
  const done = work().finally(() => {
    isOver = true
  })
  while (!isOver) {
    await new Promise(setImmediate)
    const now = processorMs()
    longest = Math.max(longest, now - last)
    last = now
  }
  await done
  return longest
}
