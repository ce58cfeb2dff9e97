/**
 * A preload of the bundle that owns its time: Date, performance.now and all timers. Time passes at its real speed while
 * something is under way, and jumps ahead when all is idle, at most to the instant that the last command named. Commands are
 * lines of JSON on standard input, and answers are lines of the log.
 */
import { isMainThread } from 'node:worker_threads'
import { openActivity } from './activity.ts'
import { installClock } from './clock.ts'
import { installTimers } from './timers.ts'

/**
 * `until`: jump at most to this instant, and say when it is reached, with the `id` of the command: after the clock was set
 * back, an instant comes twice. `shift`: set the wall clock by so many milliseconds.
 */
type Command = { until: number; id: number } | { shift: number }

/** How often time is looked at, in ms. */
const TURN_MS = 1
/** What a callback began shows in the turn after it. */
const QUIET_TURNS = 2
/** A jump goes to the next timer, or at least so far: in eight days some timer is due in each of 700,000 seconds. */
const SHORTEST_JUMP_MS = 30_000
/** A timer that is due this soon is part of what is under way, such as an answer that waits to be stored with others. */
const SOON_MS = 100

/** Moves the clock of a server. */
function openJumping(clock: ReturnType<typeof installClock>) {
  const timers = installTimers(clock.monotonic)
  const isIdle = openActivity()
  let limit = clock.wall()
  let unanswered: number | null = null
  let quietTurns = 0

  /** Says once that the instant is reached. */
  function announce(): void {
    if (unanswered === null || clock.wall() < limit) return
    process.stdout.write(`${JSON.stringify({ message: 'reached', id: unanswered })}\n`)
    unanswered = null
  }

  /** Runs what is due, and jumps if nothing is under way. */
  function turn(): void {
    timers.runDue()
    quietTurns = isIdle() ? quietTurns + 1 : 0
    if (quietTurns < QUIET_TURNS) return
    quietTurns = 0
    announce()
    const next = timers.nextAt() - clock.monotonic()
    const jump = next <= SOON_MS ? next : Math.max(next, SHORTEST_JUMP_MS)
    clock.advance(Math.max(0, Math.min(jump, limit - clock.wall())))
  }

  function obey(command: Command): void {
    if ('shift' in command) {
      clock.shift(command.shift)
      // Until the next command, no time passes.
      limit += command.shift
    } else {
      limit = command.until
      unanswered = command.id
    }
  }

  return { turn, obey }
}

function main(): void {
  const { setInterval } = globalThis
  const clock = installClock(Number(process.env.SIMULATED_FROM))
  // A command takes real time.
  if (process.argv[2] !== 'serve') return
  const { turn, obey } = openJumping(clock)
  let text = ''
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) obey(JSON.parse(line))
  })
  // The process ends as it would without these.
  if ('unref' in process.stdin) (process.stdin.unref as () => void)()
  setInterval(turn, TURN_MS).unref()
}

if (isMainThread) main()
