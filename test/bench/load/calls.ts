/** Durable SDK calls on 64 connections, compared with the same server on other stores. */

import { type Bench, CONNECTIONS, interleave, type Server } from '../bench.ts'
import { TOKEN } from '../database.ts'
import { atMost, type Figure, median, speedAgainst } from '../figures.ts'
import type { Kind } from '../servers/serve.ts'
import type { Measured } from './load.ts'

type Call = 'identify' | 'attribute'
/** A server and the number of users in its database; 0 for a baseline without storage. */
type Contender = { kind: Kind; users: number; commit_ms?: number }
type Targets = { commit_per_request: number; without_storage: number; p99_ms: number }

const TARGETS: Record<'cold' | 'hot', Targets> = {
  cold: { commit_per_request: 3.5, without_storage: 0.35, p99_ms: 100 },
  hot: { commit_per_request: 6, without_storage: 0.55, p99_ms: 50 },
}
const WITHOUT_STORAGE_OF_BARE = 0.9
const SLOW_DISK_MS = 1
const SLOW_DISK_RATIO = 15

const speeds = (measured: readonly Measured[]): number[] => measured.map(({ per_second }) => per_second)
const p50s = (measured: readonly Measured[]): number[] => measured.map(({ p50 }) => p50)
const p99s = (measured: readonly Measured[]): number[] => measured.map(({ p99 }) => p99)

/** Runs the same load on each server in turn. */
async function compare<Name extends string>(
  { sizes, newDatabase, serve, measure }: Bench,
  call: Call,
  contenders: Record<Name, Contender>,
): Promise<Record<Name, Measured[]>> {
  const entries = Object.entries(contenders) as [Name, Contender][]
  const opened = await Promise.all(
    entries.map(async ([name, { users, ...spec }]) => {
      const server = await serve({ ...spec, file: await newDatabase(users) })
      return { name, server, users: users === 0 ? sizes.hot_users : users }
    }),
  )
  const { warm_seconds, seconds } = sizes
  const turn = (server: Server, users: number, measured_seconds: number) =>
    measure({
      call,
      url: server.url,
      token: TOKEN,
      users,
      connections: CONNECTIONS,
      warm_seconds,
      seconds: measured_seconds,
    })
  for (const { server, users } of opened) await turn(server, users, 0)
  const turns = opened.map(({ name, server, users }) => [name, () => turn(server, users, seconds)])
  const measured = await interleave<Name, Measured>(sizes.rounds, Object.fromEntries(turns))
  await Promise.all(opened.map(({ server }) => server.close()))
  return measured
}

/** Measures one call with more users than SQLite's page cache holds (cold), and with fewer (hot). */
export async function measureCall(bench: Bench, call: Call): Promise<Figure[]> {
  const { cold_users, hot_users } = bench.sizes
  const measured = await compare(bench, call, {
    cold: { kind: 'windfall', users: cold_users },
    hot: { kind: 'windfall', users: hot_users },
    one_by_one_cold: { kind: 'commit per request', users: cold_users },
    one_by_one_hot: { kind: 'commit per request', users: hot_users },
    without_storage: { kind: 'without storage', users: 0 },
    bare: { kind: 'bare', users: 0 },
  })
  const { without_storage, bare } = measured
  const figuresFor = (heat: 'cold' | 'hot'): Figure[] => {
    const name = `${call}, ${bench.sizes[`${heat}_users`].toLocaleString('en-US')} users`
    return figuresOf(name, TARGETS[heat], measured[heat], measured[`one_by_one_${heat}`], without_storage)
  }
  const baseline = { name: 'bare h3, key, valibot', values: speeds(bare) }
  return [
    ...figuresFor('cold'),
    ...figuresFor('hot'),
    speedAgainst(`${call}, without storage`, speeds(without_storage), baseline, WITHOUT_STORAGE_OF_BARE),
  ]
}

function figuresOf(
  name: string,
  targets: Targets,
  windfall: Measured[],
  commitPerRequest: Measured[],
  withoutStorage: Measured[],
): Figure[] {
  const perCommit = { name: 'a commit per request', values: speeds(commitPerRequest) }
  const noStorage = { name: 'without storage', values: speeds(withoutStorage) }
  return [
    speedAgainst(name, speeds(windfall), perCommit, targets.commit_per_request),
    speedAgainst(name, speeds(windfall), noStorage, targets.without_storage),
    atMost(`${name}, p99`, median(p99s(windfall)), 'ms', targets.p99_ms),
    atMost(`${name}, p50`, median(p50s(windfall)), 'ms', null),
    atMost(`${name}, p99 of a commit per request`, median(p99s(commitPerRequest)), 'ms', null),
  ]
}

/** Measures both calls with commits that take a millisecond longer, as on the disk of a cheap server. */
export async function measureSlowDisk(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = []
  const slow = { users: bench.sizes.hot_users, commit_ms: SLOW_DISK_MS }
  for (const call of ['identify', 'attribute'] as const) {
    const measured = await compare(bench, call, {
      windfall: { kind: 'windfall', ...slow },
      commit_per_request: { kind: 'commit per request', ...slow },
    })
    const name = `${call}, commits ${SLOW_DISK_MS} ms slower`
    const baseline = { name: 'a commit per request', values: speeds(measured.commit_per_request) }
    figures.push(speedAgainst(name, speeds(measured.windfall), baseline, SLOW_DISK_RATIO))
    figures.push(atMost(`${name}, p99`, median(p99s(measured.windfall)), 'ms', null))
  }
  return figures
}
