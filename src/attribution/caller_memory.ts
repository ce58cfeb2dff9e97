/**
 * Who called on earlier days: the networks, and when each organization was last called with proof. It is kept in memory,
 * and written once a day and when the server stops, so that no call costs a statement.
 */
import type { Clock } from '../clock.ts'
import { type NetworkAges, openKnownNetworks } from '../http/clients/known_networks.ts'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'

/** The most networks of each kind that are written. */
const MAX_WRITTEN = 2_000
const DAY_MS = 86_400_000

/** `at` is in ms since the epoch. All others are ages at that time, in ms. */
type Written = { at: number; networks: NetworkAges; proved: [organization_id: string, age: number][] }

type Deps = { store: Pick<Store, 'prepare' | 'commit'>; clock: Clock; monotonic: Clock }

export type CallerMemory = ReturnType<typeof openCallerMemory>

/** Opens the memory, with what was written before a restart. */
export function openCallerMemory({ store, clock, monotonic }: Deps) {
  const setting = openSetting(store, 'caller_memory')
  const networks = openKnownNetworks(monotonic)
  /** When each organization was last called with proof, by `monotonic`. */
  const provedAt = new Map<string, number>()

  const stored = (): Written | null => JSON.parse(setting.get() ?? 'null')
  const before = stored()
  if (before !== null) restore(before)

  function restore({ at, networks: ages, proved }: Written): void {
    const stopped_ms = Math.max(0, clock() - at)
    networks.restore(ages, stopped_ms)
    for (const [organization_id, age] of proved) provedAt.set(organization_id, monotonic() - age - stopped_ms)
  }

  function write(): void {
    const proved = [...provedAt].map(([id, at]): [string, number] => [id, monotonic() - at])
    const written: Written = { at: clock(), networks: networks.read(MAX_WRITTEN), proved }
    setting.set(JSON.stringify(written))
  }

  /** Writes the memory if that was last done a day ago, or by a clock that was ahead. Call it inside a unit of work. */
  function writeDaily(): void {
    const last = stored()
    if (last === null || last.at > clock() || clock() - last.at >= DAY_MS) write()
  }

  /** Writes the memory before the store closes. A store that cannot write, as on a full disk, has what was written before. */
  const close = (): Promise<void> => store.commit(write).catch(() => undefined)

  return { networks, provedAt, writeDaily, close }
}
