/** Steers the time of the program: lets it jump to an instant, sets its clock, and remembers when this was wrong. */
import type { Program } from '../program.ts'

const DAY_MS = 86_400_000
/** The clock of the program is known this well between its reports. */
const UNSURE_MS = 5 * 60_000
/** The characters of the log among which an answer is searched. */
const TAIL = 20_000

/** When the clock of the program was wrong, by its own time, and how far it was ahead, in ms. */
type Wrong = { from: number; until: number; by: number }

export type Steering = ReturnType<typeof openSteering>

/** Opens the steering of a program that begins at `starts_at`, in ms. */
export function openSteering(starts_at: number) {
  let reached = starts_at
  let ahead = 0
  let asked = 0
  let program: Program | null = null
  const wrong: Wrong[] = []

  const say = (command: object): void => void program?.say(`${JSON.stringify(command)}\n`)
  const during = (at: number) =>
    wrong.filter(({ from, until }) => at >= from - UNSURE_MS && at <= until + UNSURE_MS)

  return {
    /** The environment of a process that begins now. */
    env: () => ({ SIMULATED_FROM: String(reached) }),
    steer: (one: Program): void => {
      program = one
    },
    /** The time of the program’s clock. */
    now: () => reached,
    /** Resolves when the program has reached this right time. */
    async until(instant: number): Promise<void> {
      const until = instant + ahead
      asked += 1
      say({ until, id: asked })
      const line = `"message":"reached","id":${asked}}`
      await program?.until((stdout) => (stdout.includes(line, stdout.length - TAIL) ? true : null))
      reached = until
    },
    /** Sets the program’s clock, so that it is wrong, or right again. */
    shift(ms: number): void {
      if (ahead !== 0) Object.assign(wrong.at(-1) ?? {}, { until: reached })
      ahead += ms
      say({ shift: ms })
      reached += ms
      if (ahead !== 0) wrong.push({ from: reached, until: Number.POSITIVE_INFINITY, by: ahead })
    },
    /** Whether the program’s clock can have been wrong when it showed this. */
    wasWrong: (at: number): boolean => during(at).length > 0,
    /** The right time when the program’s clock showed this. What it showed twice was right. */
    right: (at: number): number => at - (during(at).find(({ by }) => Math.abs(by) > DAY_MS)?.by ?? 0),
    /** When the clock was first set back so that it was wrong, by its own time. */
    setBackAt: (): number => wrong.find(({ by }) => by < 0)?.from ?? Number.POSITIVE_INFINITY,
    /** When the clock was first set ahead by more than a day, by the right time. */
    aheadSince: (): number => {
      const first = wrong.find(({ by }) => by > DAY_MS)
      return first === undefined ? Number.POSITIVE_INFINITY : first.from - first.by
    },
  }
}
