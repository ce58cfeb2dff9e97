/** What happens in the days: which work is done after which part of them. */
import { type Around, ROTATED_SECRET, SECRET } from '../world_around.ts'
import type { Steering } from './steered.ts'

const HOUR_MS = 3_600_000
const SPRING_MS = 70 * 24 * HOUR_MS
/** The zones of the organization, one after the other. */
export const ZONES = ['Europe/Berlin', 'Australia/Sydney'] as const

/** What `webhooks list` prints. */
type Endpoints = { endpoints: { name: string; state: string }[] }
type Work = () => Promise<unknown> | unknown

/** A part of the days, from 0 to 1, and what is done after it. */
type Scheduled = readonly [part: number, work: Work]

/**
 * When something happened, by the program’s clock: the receiver `dead` died and came back, the organization
 * moved to a zone.
 */
export type Marks = { died_at: number; came_back_at: number; zones: { zone: string; since: number }[] }

/** Returns the schedule, and the marks that its work sets. */
export function scenarioOf({ program, receivers, installed }: Around, steering: Steering) {
  const [first, second] = ZONES
  const zones = [{ zone: first as string, since: steering.now() }]
  const marks: Marks = { died_at: Number.NaN, came_back_at: Number.NaN, zones }

  const restart = (signal: 'SIGTERM' | 'SIGKILL') => async () => {
    await program.end(signal)
    await program.begin()
  }
  const edit = (from: string, to: string) => async () => {
    installed.replace(from, to)
    await program.reload()
  }
  const shift = (ms: number) => () => steering.shift(ms)
  async function die(): Promise<void> {
    marks.died_at = steering.now()
    await receivers.ask.die()
  }
  async function move(): Promise<void> {
    await edit(`time_zone = "${first}"`, `time_zone = "${second}"`)()
    marks.zones.push({ zone: second, since: steering.now() })
  }
  async function comeBack(): Promise<void> {
    marks.came_back_at = steering.now()
    await receivers.ask.comeBack()
    const { endpoints } = await program.command<Endpoints>('webhooks', 'list')
    // In less than five days it was not paused.
    if (endpoints.some(({ name, state }) => name === 'dead' && state === 'paused'))
      await program.command('webhooks', 'resume', 'dead', '--send-waiting')
  }

  const both = `["${ROTATED_SECRET}","${SECRET}"]`
  const schedule: Scheduled[] = [
    [0.02, die],
    [0.15, restart('SIGKILL')],
    [0.2, edit(`["${SECRET}"]`, both)],
    [0.3, restart('SIGTERM')],
    [0.35, () => receivers.ask.rotate(ROTATED_SECRET)],
    [0.4, edit(both, `["${ROTATED_SECRET}"]`)],
    [0.5, shift(-HOUR_MS)],
    [0.52, shift(HOUR_MS)],
    [0.6, move],
    [0.7, restart('SIGKILL')],
    [0.85, comeBack],
    [0.95, shift(SPRING_MS)],
    [0.97, shift(-SPRING_MS)],
  ]
  return { schedule, marks }
}
