/** The two calls of client apps at 64 connections, durable, against the same server with other stores. */

import { type Bench, CONNECTIONS, inTurn, type Server } from '../bench.ts'
import { TOKEN } from '../database.ts'
import { below, type Figure, faster, median } from '../figures.ts'
import type { Kind } from '../servers/serve.ts'
import type { Measured } from './load.ts'

type Call = 'identify' | 'attribute'
/** A server and how many users are in its database; a floor without storage has none. */
type Contender = { kind: Kind; users: number; commit_ms?: number }
type Promised = { one_by_one: number; without_storage: number; p99_ms: number }

const PROMISED: Record<'cold' | 'hot', Promised> = {
  cold: { one_by_one: 3.5, without_storage: 0.35, p99_ms: 100 },
  hot: { one_by_one: 6, without_storage: 0.55, p99_ms: 50 },
}
const WITHOUT_STORAGE_OF_BARE = 0.9
const SLOW_DISK_MS = 1
const SLOW_DISK_TIMES = 15

const speeds = (measured: readonly Measured[]): number[] => measured.map(({ per_second }) => per_second)
const p50s = (measured: readonly Measured[]): number[] => measured.map(({ p50 }) => p50)
const p99s = (measured: readonly Measured[]): number[] => measured.map(({ p99 }) => p99)

/** The same load on each server in turn; `users` are those that it speaks of. */
async function compare<Name extends string>(
  { sizes, databaseOf, serve, measure }: Bench,
  call: Call,
  contenders: Record<Name, Contender>,
): Promise<Record<Name, Measured[]>> {
  const entries = Object.entries(contenders) as [Name, Contender][]
  const opened = await Promise.all(
    entries.map(async ([name, { users, ...spec }]) => {
      const server = await serve({ ...spec, file: await databaseOf(users) })
      return { name, server, users: users === 0 ? sizes.hot_users : users }
    }),
  )
  const { warm_seconds, seconds } = sizes
  const turn = (server: Server, users: number, counted: number) =>
    measure({
      call,
      url: server.url,
      token: TOKEN,
      users,
      connections: CONNECTIONS,
      warm_seconds,
      seconds: counted,
    })
  for (const { server, users } of opened) await turn(server, users, 0)
  const turns = opened.map(({ name, server, users }) => [name, () => turn(server, users, seconds)])
  const measured = await inTurn<Name, Measured>(sizes.rounds, Object.fromEntries(turns))
  await Promise.all(opened.map(({ server }) => server.close()))
  return measured
}

/** One call with more users than SQLite's page cache holds, and with few. */
export async function measureCall(workshop: Bench, call: Call): Promise<Figure[]> {
  const { cold_users, hot_users } = workshop.sizes
  const measured = await compare(workshop, call, {
    cold: { kind: 'windfall', users: cold_users },
    hot: { kind: 'windfall', users: hot_users },
    one_by_one_cold: { kind: 'one by one', users: cold_users },
    one_by_one_hot: { kind: 'one by one', users: hot_users },
    without_storage: { kind: 'without storage', users: 0 },
    bare: { kind: 'bare', users: 0 },
  })
  const { without_storage, bare } = measured
  const of = (heat: 'cold' | 'hot'): Figure[] => {
    const name = `${call}, ${workshop.sizes[`${heat}_users`].toLocaleString('en-US')} users`
    return figuresOf(name, PROMISED[heat], measured[heat], measured[`one_by_one_${heat}`], without_storage)
  }
  const floor = { name: 'bare h3, key, valibot', values: speeds(bare) }
  return [
    ...of('cold'),
    ...of('hot'),
    faster(`${call}, without storage`, speeds(without_storage), floor, WITHOUT_STORAGE_OF_BARE),
  ]
}

function figuresOf(
  name: string,
  promised: Promised,
  ours: Measured[],
  oneByOne: Measured[],
  withoutStorage: Measured[],
): Figure[] {
  const each = { name: 'a commit per request', values: speeds(oneByOne) }
  const none = { name: 'without storage', values: speeds(withoutStorage) }
  return [
    faster(name, speeds(ours), each, promised.one_by_one),
    faster(name, speeds(ours), none, promised.without_storage),
    below(`${name}, p99`, median(p99s(ours)), 'ms', promised.p99_ms),
    below(`${name}, p50`, median(p50s(ours)), 'ms', null),
    below(`${name}, p99 of a commit per request`, median(p99s(oneByOne)), 'ms', null),
  ]
}

/** The same where each commit waits a millisecond longer, as on a cheap server's disk. */
export async function measureSlowDisk(workshop: Bench): Promise<Figure[]> {
  const figures: Figure[] = []
  const slow = { users: workshop.sizes.hot_users, commit_ms: SLOW_DISK_MS }
  for (const call of ['identify', 'attribute'] as const) {
    const measured = await compare(workshop, call, {
      ours: { kind: 'windfall', ...slow },
      one_by_one: { kind: 'one by one', ...slow },
    })
    const name = `${call}, commits ${SLOW_DISK_MS} ms slower`
    const floor = { name: 'a commit per request', values: speeds(measured.one_by_one) }
    figures.push(faster(name, speeds(measured.ours), floor, SLOW_DISK_TIMES))
    figures.push(below(`${name}, p99`, median(p99s(measured.ours)), 'ms', null))
  }
  return figures
}
