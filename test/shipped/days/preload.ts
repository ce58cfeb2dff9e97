/**
 * A preload of the bundle that owns its time: Date, performance.now and all timers. Time passes at its real speed while
 * something is under way, and jumps to the next timer when all is idle. It jumps at most to the instant that the last
 * command named; commands are lines of JSON on standard input, and answers are lines of the log.
 */
import { isMainThread } from 'node:worker_threads'
import { openActivity } from './activity.ts'
import { installClock } from './clock.ts'
import { installTimers } from './timers.ts'

/** `until`: jump at most to this instant. `shift`: set the wall clock by so many milliseconds. */
type Command = { until?: number; shift?: number }

/** How often time is looked at while something is under way, in ms. */
const POLL_MS = 1

function main(): void {
  const real = { setTimeout, setImmediate }
  const clock = installClock(Number(process.env.SIMULATED_FROM))
  const timers = installTimers(clock.monotonic)
  const isIdle = openActivity()
  let limit = clock.wall()
  let announced = limit
  let quietTurns = 0

  /** Says once that the instant is reached. */
  function announce(): void {
    if (announced === limit || clock.wall() < limit) return
    announced = limit
    process.stdout.write(`${JSON.stringify({ message: 'reached', until: limit })}\n`)
  }

  /** The milliseconds to the next timer or to the limit. */
  const ahead = (): number => Math.min(timers.nextAt() - clock.monotonic(), Math.max(0, limit - clock.wall()))

  function turn(): void {
    timers.runDue()
    quietTurns = isIdle() ? quietTurns + 1 : 0
    // What a callback began shows in the turn after it.
    if (quietTurns < 2)
      return void (quietTurns > 0 ? real.setImmediate(turn) : real.setTimeout(turn, POLL_MS))
    announce()
    const by = ahead()
    if (by > 0) clock.skip(by)
    quietTurns = 0
    if (by > 0) real.setImmediate(turn)
    else real.setTimeout(turn, POLL_MS)
  }

  function obey({ until, shift }: Command): void {
    if (shift !== undefined) clock.shift(shift)
    if (until !== undefined) limit = until
  }

  let text = ''
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) obey(JSON.parse(line))
  })
  ;(process.stdin as unknown as { unref(): void }).unref()
  turn()
}

if (isMainThread) main()
