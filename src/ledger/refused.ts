/** Stores a hundred notifications that did not verify, because the local clock or root may be wrong. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const SAVED_MAX = 100
/** More than this in a second is a flood, and each costs a write. The limits are in total and per address. */
const SAVED_PER_SECOND = 10
const SAVED_PER_SECOND_AND_ADDRESS = 5
/** Apple's payloads are under 20 KB; longer texts are cut. */
const RAW_CHARACTERS = 65_536
const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/** `address` is the sender's (IPv6: its /64); null for an entry of Apple's history. */
export type RefusedPayload = {
  id: number
  reason: string
  detail: string
  address: string | null
  received_at: number
}
/** The number of refusals in the last 24 hours. `is_exact` is false while it is only a lower bound. */
export type RecentRefusals = { count: number; is_exact: boolean }

export function openRefused(store: Store, clock: Clock) {
  const insert = store.prepare<[string, string, string, string | null, number]>(
    'insert into refused_notifications (reason, detail, raw, address, received_at) values (?, ?, ?, ?, ?)',
  )
  const saved = store.prepare<[], { count: number }>('select count(*) as count from refused_notifications')
  // Deletes the oldest of the address with the most rows, so that a flood displaces only its own.
  const bound = store.prepare(`
    delete from refused_notifications where id =
      (select min(id) from refused_notifications group by address order by count(*) desc, min(id) limit 1)`)
  const newest = store.prepare<[], RefusedPayload>(
    `select id, reason, detail, address, received_at from refused_notifications order by id desc limit ${SAVED_MAX}`,
  )
  const savedBetween = store.prepare<[number, number], { count: number }>(
    'select count(*) as count from refused_notifications where received_at > ? and received_at < ?',
  )
  const rawOf = store.prepare<[number], { raw: string }>('select raw from refused_notifications where id = ?')
  const started_at = clock()
  const perMinute = new Map<number, number>()
  const inSecond = { second: 0, all: 0, of: new Map<string, number>() }
  let counted = 0

  /** Counts one and stores it for diagnosis: ten per second, five per address. Resolves once it is on disk. */
  async function save(reason: string, detail: string, raw: string, address: string | null): Promise<void> {
    tally()
    if (!isSampled(address)) return
    await store.commit(() => {
      insert.run(reason, detail, raw.slice(0, RAW_CHARACTERS), address, clock())
      if ((saved.get()?.count ?? 0) > SAVED_MAX) bound.run()
    })
  }

  function tally(): void {
    counted += 1
    const minute = minuteOf(clock())
    const before = perMinute.get(minute) ?? 0
    perMinute.set(minute, before + 1)
    if (before > 0) return
    for (const old of perMinute.keys()) if (old < minute - DAY_MINUTES) perMinute.delete(old)
  }

  /** Payloads from Apple's API have no address: only the total limit applies to them. */
  function isSampled(address: string | null): boolean {
    const second = Math.floor(clock() / 1000)
    if (second !== inSecond.second) {
      Object.assign(inSecond, { second, all: 0 })
      inSecond.of.clear()
    }
    const ofAddress = address === null ? 0 : (inSecond.of.get(address) ?? 0)
    if (inSecond.all >= SAVED_PER_SECOND || ofAddress >= SAVED_PER_SECOND_AND_ADDRESS) return false
    inSecond.all += 1
    if (address !== null) inSecond.of.set(address, ofAddress + 1)
    return true
  }

  /** The number of refusals since the start. */
  const count = (): number => counted

  /** The number of recent refusals: all counted since the start and, from before, those that were stored. */
  function recentRefusals(): RecentRefusals {
    const from = clock() - DAY_MINUTES * MINUTE_MS
    const since = [...perMinute].reduce((sum, [minute, of]) => (minute > minuteOf(from) ? sum + of : sum), 0)
    if (started_at <= from) return { count: since, is_exact: true }
    return { count: since + (savedBetween.get(from, started_at)?.count ?? 0), is_exact: false }
  }

  /** The stored refusals, newest first, without their raw text. */
  const list = (): RefusedPayload[] => newest.all()

  /** The first 65,536 characters of a refused text, as it came; null if it is not stored. */
  const raw = (id: number): string | null => rawOf.get(id)?.raw ?? null

  return { save, count, recentRefusals, list, raw }
}

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS)
