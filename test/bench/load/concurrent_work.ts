/** The effect of backups and viewers on the slowest concurrent calls. */
import { rmSync } from 'node:fs'
import { type Bench, CONNECTIONS, inTurn, type Server } from '../bench.ts'
import { TOKEN } from '../database.ts'
import { below, type Figure, faster, median, within } from '../figures.ts'
import type { Measured } from './load.ts'
import type { Load } from './requests.ts'
import type { ViewersRequest, Watched } from './viewers.ts'

const p99s = (measured: readonly Measured[]): number[] => measured.map(({ p99 }) => p99)
const worsts = (measured: readonly Measured[]): number[] => measured.map(({ worst }) => worst)
const speeds = (measured: readonly Measured[]): number[] => measured.map(({ per_second }) => per_second)

/** Identify calls, some of them of somebody new, of whom the feed tells. */
export function loadOn({ sizes }: Bench, { url }: Server, users: number): Load {
  const { warm_seconds, tail_seconds: seconds } = sizes
  return {
    call: 'identify',
    url,
    token: TOKEN,
    users,
    newcomers: true,
    connections: CONNECTIONS,
    warm_seconds,
    seconds,
  }
}

/** One backup after another for as long as the load lasts, and until the last of them is done. */
async function duringBackups(workshop: Bench, server: Server, load: Load): Promise<Measured> {
  let isOver = false
  async function keepBackingUp(): Promise<void> {
    while (!isOver) {
      const copy = workshop.newFile()
      await server.request({ backup: copy })
      rmSync(copy)
    }
  }
  const backups = keepBackingUp()
  const measured = await workshop.measure(load)
  isOver = true
  await backups
  return measured
}

export async function measureBackup(workshop: Bench): Promise<Figure[]> {
  const users = workshop.sizes.cold_users
  const server = await workshop.serve({ kind: 'windfall', file: await workshop.databaseOf(users) })
  const load = loadOn(workshop, server, users)
  const { alone, beside } = await inTurn(workshop.sizes.tail_rounds, {
    alone: () => workshop.measure(load),
    beside: () => duringBackups(workshop, server, load),
  })
  await server.close()
  return comparedWithAlone('identify during a backup', alone, beside)
}

export const measureViewers = (workshop: Bench): Promise<Figure[]> =>
  measureViewersOf(workshop, workshop.sizes.viewers, null)

/** `speed_left`: the part of the calls a second that has to be left while so many look on; null where none was promised. */
export async function measureViewersOf(
  workshop: Bench,
  viewers: number,
  speed_left: number | null,
): Promise<Figure[]> {
  const { hot_users: users, tail_rounds, tail_seconds } = workshop.sizes
  const server = await workshop.serve({ kind: 'windfall', file: await workshop.databaseOf(users) })
  const { token } = await server.request<{ token: string }>({ token: true })
  const child = workshop.start('load/viewers.ts')
  const request = <Answer>(question: ViewersRequest) => child.request<Answer>(question)
  const load = loadOn(workshop, server, users)
  const seen: number[] = []

  async function watched(): Promise<Measured> {
    await request({ watch: { url: server.url, token, viewers } })
    const measured = await workshop.measure(load)
    const { messages, cut } = await request<Watched>({ leave: true })
    if (cut > 0) throw new Error(`${cut} viewers were cut off`)
    seen.push(messages / tail_seconds)
    return measured
  }

  const { alone, beside } = await inTurn(tail_rounds, {
    alone: () => workshop.measure(load),
    beside: watched,
  })
  await server.close()
  return [
    ...comparedWithAlone(`identify with ${viewers} viewers`, alone, beside, speed_left),
    below(`messages to ${viewers} viewers in a second`, median(seen), '', null),
  ]
}

/** What the slowest calls and all of them took beside something, against the same calls alone. */
export function comparedWithAlone(
  name: string,
  alone: Measured[],
  beside: Measured[],
  speed_left: number | null = null,
): Figure[] {
  return [
    within(`${name}, p99`, 'ms', p99s(beside), { name: 'alone', values: p99s(alone) }, 2),
    within(`${name}, the slowest`, 'ms', worsts(beside), { name: 'alone', values: worsts(alone) }, null),
    faster(name, speeds(beside), { name: 'alone', values: speeds(alone) }, speed_left),
  ]
}
