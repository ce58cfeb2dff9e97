/** The effect of backups and viewers on the response times of concurrent calls. */
import { rmSync } from 'node:fs'
import { type Bench, CONNECTIONS, interleave, type Server } from '../bench.ts'
import { TOKEN } from '../database.ts'
import { atMost, costAgainst, type Figure, median, speedAgainst } from '../figures.ts'
import type { Measured } from './load.ts'
import type { Load } from './requests.ts'
import type { ViewerCounts, ViewersRequest } from './viewers.ts'

const p99s = (measured: readonly Measured[]): number[] => measured.map(({ p99 }) => p99)
const worsts = (measured: readonly Measured[]): number[] => measured.map(({ worst }) => worst)
const speeds = (measured: readonly Measured[]): number[] => measured.map(({ per_second }) => per_second)

/** A load of identify calls. Some calls have a new user id and add an event to the feed. */
export function identifyLoad({ sizes }: Bench, { url }: Server, users: number): Load {
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

/** Runs the load while the server makes one backup after another. Resolves after the last backup. */
async function duringBackups(bench: Bench, server: Server, load: Load): Promise<Measured> {
  let isLoadDone = false
  async function keepBackingUp(): Promise<void> {
    while (!isLoadDone) {
      const copy = bench.newFile()
      await server.request({ backup: copy })
      rmSync(copy)
    }
  }
  const backups = keepBackingUp()
  const measured = await bench.measure(load)
  isLoadDone = true
  await backups
  return measured
}

export async function measureBackup(bench: Bench): Promise<Figure[]> {
  const users = bench.sizes.cold_users
  const server = await bench.serve({ kind: 'windfall', file: await bench.newDatabase(users) })
  const load = identifyLoad(bench, server, users)
  const { alone, concurrent } = await interleave(bench.sizes.tail_rounds, {
    alone: () => bench.measure(load),
    concurrent: () => duringBackups(bench, server, load),
  })
  await server.close()
  return compareWithAlone('identify during a backup', alone, concurrent)
}

export const measureViewers = (bench: Bench): Promise<Figure[]> =>
  measureViewersOf(bench, bench.sizes.viewers, null)

/** `min_speed_ratio`: the target of the calls per second with viewers divided by those without; null without a target. */
export async function measureViewersOf(
  bench: Bench,
  viewers: number,
  min_speed_ratio: number | null,
): Promise<Figure[]> {
  const { hot_users: users, tail_rounds, tail_seconds } = bench.sizes
  const server = await bench.serve({ kind: 'windfall', file: await bench.newDatabase(users) })
  const { token } = await server.request<{ token: string }>({ token: true })
  const child = bench.start('load/viewers.ts')
  const request = <Answer>(message: ViewersRequest) => child.request<Answer>(message)
  const load = identifyLoad(bench, server, users)
  const message_rates: number[] = []

  async function measureWatched(): Promise<Measured> {
    await request({ watch: { url: server.url, token, viewers } })
    const measured = await bench.measure(load)
    const { messages, disconnected } = await request<ViewerCounts>({ leave: true })
    if (disconnected > 0) throw new Error(`the server disconnected ${disconnected} viewers`)
    message_rates.push(messages / tail_seconds)
    return measured
  }

  const { alone, concurrent } = await interleave(tail_rounds, {
    alone: () => bench.measure(load),
    concurrent: measureWatched,
  })
  await server.close()
  return [
    ...compareWithAlone(`identify with ${viewers} viewers`, alone, concurrent, min_speed_ratio),
    atMost(`messages per second to ${viewers} viewers`, median(message_rates), '', null),
  ]
}

/** Compares calls during other work with the same calls alone: p99, maximum and calls per second. */
export function compareWithAlone(
  name: string,
  alone: Measured[],
  concurrent: Measured[],
  min_speed_ratio: number | null = null,
): Figure[] {
  return [
    costAgainst(`${name}, p99`, 'ms', p99s(concurrent), { name: 'alone', values: p99s(alone) }, 2),
    costAgainst(`${name}, maximum`, 'ms', worsts(concurrent), { name: 'alone', values: worsts(alone) }, null),
    speedAgainst(name, speeds(concurrent), { name: 'alone', values: speeds(alone) }, min_speed_ratio),
  ]
}
