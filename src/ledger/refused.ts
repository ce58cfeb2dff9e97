/** What we remember: a hundred notifications that did not verify, since our clock or root may be at fault. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const KEPT = 100
/** More than that in a second is a flood, and each costs a write: in all, and of one address. */
const KEPT_A_SECOND = 10
const KEPT_A_SECOND_OF_ONE = 5
/** Apple's are under 20 KB; what is longer is not worth its room. */
const RAW_CHARACTERS = 65_536
const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/** `address` is from where it was pushed (IPv6: its /64); null for one of Apple's history. */
export type RefusedPayload = {
  id: number
  reason: string
  detail: string
  address: string | null
  received_at: number
}
/** How many were refused in the last 24 hours. `is_exact` is false while it is only a lower bound. */
export type RecentRefusals = { count: number; is_exact: boolean }

export function openRefused(store: Store, clock: Clock) {
  const insert = store.prepare<[string, string, string, string | null, number]>(
    'insert into refused_notifications (reason, detail, raw, address, received_at) values (?, ?, ?, ?, ?)',
  )
  const kept = store.prepare<[], { count: number }>('select count(*) as count from refused_notifications')
  // The address with the most rows loses its oldest, so that a flood displaces only its own.
  const bound = store.prepare(`
    delete from refused_notifications where id =
      (select min(id) from refused_notifications group by address order by count(*) desc, min(id) limit 1)`)
  const newest = store.prepare<[], RefusedPayload>(
    `select id, reason, detail, address, received_at from refused_notifications order by id desc limit ${KEPT}`,
  )
  const keptBetween = store.prepare<[number, number], { count: number }>(
    'select count(*) as count from refused_notifications where received_at > ? and received_at < ?',
  )
  const rawOf = store.prepare<[number], { raw: string }>('select raw from refused_notifications where id = ?')
  const started_at = clock()
  const perMinute = new Map<number, number>()
  const inSecond = { second: 0, all: 0, of: new Map<string, number>() }
  let counted = 0

  /** Counts one and keeps it for diagnosis: the first ten of a second, five of one address. Resolves once it is on disk. */
  async function save(reason: string, detail: string, raw: string, address: string | null): Promise<void> {
    tally()
    if (!isSampled(address)) return
    await store.commit(() => {
      insert.run(reason, detail, raw.slice(0, RAW_CHARACTERS), address, clock())
      if ((kept.get()?.count ?? 0) > KEPT) bound.run()
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

  /** Payloads from Apple's API have no address: only the bound over all applies to them. */
  function isSampled(address: string | null): boolean {
    const second = Math.floor(clock() / 1000)
    if (second !== inSecond.second) {
      Object.assign(inSecond, { second, all: 0 })
      inSecond.of.clear()
    }
    const ofAddress = address === null ? 0 : (inSecond.of.get(address) ?? 0)
    if (inSecond.all >= KEPT_A_SECOND || ofAddress >= KEPT_A_SECOND_OF_ONE) return false
    inSecond.all += 1
    if (address !== null) inSecond.of.set(address, ofAddress + 1)
    return true
  }

  /** How many were refused since the start. */
  const count = (): number => counted

  /** How many were refused lately: those counted since the start and, of the time before it, those that were kept. */
  function recentRefusals(): RecentRefusals {
    const from = clock() - DAY_MINUTES * MINUTE_MS
    const since = [...perMinute].reduce((sum, [minute, of]) => (minute > minuteOf(from) ? sum + of : sum), 0)
    if (started_at <= from) return { count: since, is_exact: true }
    return { count: since + (keptBetween.get(from, started_at)?.count ?? 0), is_exact: false }
  }

  /** Those that are kept, newest first, without their raw text. */
  const list = (): RefusedPayload[] => newest.all()

  /** The text of one as it came, its first 65,536 characters; null when it is not kept. */
  const raw = (id: number): string | null => rawOf.get(id)?.raw ?? null

  return { save, count, recentRefusals, list, raw }
}

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS)
