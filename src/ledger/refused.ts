/**
 * Stores up to a hundred notifications that failed verification, for diagnosis: the server's clock or root certificate
 * may be wrong.
 */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const MAX_SAVED = 100
/** Storing a refusal is a write, so the number of stored refusals per second is limited, in total and per address. */
const MAX_PER_SECOND = 10
const MAX_PER_SECOND_AND_ADDRESS = 5
/** Longer texts are cut. Apple's payloads are under 20 KB. */
const MAX_RAW_CHARACTERS = 65_536
const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/** A refused notification. `address` is the sender's (for IPv6 its /64); null for an entry of Apple's history. */
export type RefusedPayload = {
  id: number
  reason: string
  detail: string
  address: string | null
  received_at: number
}
/** The number of refusals in the last 24 hours. `is_exact` is false while `count` is only a lower bound. */
export type RecentRefusals = { count: number; is_exact: boolean }

export function openRefused(store: Store, clock: Clock) {
  const insert = store.prepare<[string, string, string, string | null, number]>(
    'insert into refused_notifications (reason, detail, raw, address, received_at) values (?, ?, ?, ?, ?)',
  )
  const countAll = store.prepare<[], { count: number }>('select count(*) as count from refused_notifications')
  // Deletes the oldest row of the address with the most rows, so that a flood displaces only rows of its own address.
  const deleteExcess = store.prepare(`
    delete from refused_notifications where id =
      (select min(id) from refused_notifications group by address order by count(*) desc, min(id) limit 1)`)
  const newest = store.prepare<[], RefusedPayload>(
    `select id, reason, detail, address, received_at from refused_notifications order by id desc limit ${MAX_SAVED}`,
  )
  const countBetween = store.prepare<[number, number], { count: number }>(
    'select count(*) as count from refused_notifications where received_at > ? and received_at < ?',
  )
  const rawOf = store.prepare<[number], { raw: string }>('select raw from refused_notifications where id = ?')
  const started_at = clock()
  const byMinute = new Map<number, number>()
  const inSecond = { second: 0, savedCount: 0, countByAddress: new Map<string, number>() }
  let refusalCount = 0

  /** Counts a refusal and stores it: at most ten per second, five of one address. Resolves once it is on disk. */
  async function save(reason: string, detail: string, raw: string, address: string | null): Promise<void> {
    countRefusal()
    if (!isSampled(address)) return
    await store.commit(() => {
      insert.run(reason, detail, raw.slice(0, MAX_RAW_CHARACTERS), address, clock())
      if ((countAll.get()?.count ?? 0) > MAX_SAVED) deleteExcess.run()
    })
  }

  function countRefusal(): void {
    refusalCount += 1
    const minute = minuteOf(clock())
    const before = byMinute.get(minute) ?? 0
    byMinute.set(minute, before + 1)
    if (before > 0) return
    for (const old of byMinute.keys()) if (old < minute - DAY_MINUTES) byMinute.delete(old)
  }

  /** Payloads from Apple's API have no address: only the total limit applies to them. */
  function isSampled(address: string | null): boolean {
    const second = Math.floor(clock() / 1000)
    if (second !== inSecond.second) {
      Object.assign(inSecond, { second, savedCount: 0 })
      inSecond.countByAddress.clear()
    }
    const ofAddress = address === null ? 0 : (inSecond.countByAddress.get(address) ?? 0)
    if (inSecond.savedCount >= MAX_PER_SECOND || ofAddress >= MAX_PER_SECOND_AND_ADDRESS) return false
    inSecond.savedCount += 1
    if (address !== null) inSecond.countByAddress.set(address, ofAddress + 1)
    return true
  }

  /** The number of refusals since the start. */
  const count = (): number => refusalCount

  /** The number of recent refusals: all since the start, plus the stored refusals from before the start. */
  function recentRefusals(): RecentRefusals {
    const from = clock() - DAY_MINUTES * MINUTE_MS
    const counted = [...byMinute].reduce((sum, [minute, n]) => (minute > minuteOf(from) ? sum + n : sum), 0)
    if (started_at <= from) return { count: counted, is_exact: true }
    return { count: counted + (countBetween.get(from, started_at)?.count ?? 0), is_exact: false }
  }

  /** The stored refusals, newest first, without their raw text. */
  const list = (): RefusedPayload[] => newest.all()

  /** The first 65,536 characters of a refused text, unchanged; null if the refusal is not stored. */
  const raw = (id: number): string | null => rawOf.get(id)?.raw ?? null

  return { save, count, recentRefusals, list, raw }
}

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS)
