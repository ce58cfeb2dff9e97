/** Steers the time of the program: lets it jump to an instant, and sets its clock. */
import type { Program } from '../program.ts'

/** Opens the steering of a program that begins at `starts_at`, in ms. */
export function openSteering(starts_at: number) {
  let reached = starts_at
  let program: Program | null = null

  const say = (command: object): void => void program?.say(`${JSON.stringify(command)}\n`)

  return {
    /** The environment of a process that begins now. */
    env: () => ({ SIMULATED_FROM: String(reached) }),
    steer: (one: Program): void => {
      program = one
    },
    now: () => reached,
    /** Resolves when the program has reached an instant of its wall clock. */
    async until(instant: number): Promise<void> {
      say({ until: instant })
      const line = `"message":"reached","until":${instant}}`
      await program?.until((stdout) => (stdout.includes(line, stdout.length - TAIL) ? true : null))
      reached = instant
    },
    /** Sets its wall clock. */
    shift(ms: number): void {
      say({ shift: ms })
      reached += ms
    },
  }
}

/** The characters of the log among which an answer is searched. */
const TAIL = 20_000
