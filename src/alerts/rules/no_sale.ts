/** Recognizes that no sale happens where sales are usual, from the live events of the feed. */
import type { App } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import type { Store } from '../../store/store.ts'
import { type Memory, ownerOf } from '../memory.ts'
import type { Fact } from './facts.ts'
import { matches } from './matching.ts'
import type { Rule } from './rules.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
const WEEKS = 4
/** The mean of sales in the same hours of the earlier weeks from which a silence is unusual. */
const USUAL_SALES = 3
/** An app without a sale for long enough to know what is usual. */
const FIRST_DAYS_MS = 14 * DAY_MS
/** A pause between two evaluations across a start that is longer than this was an outage. */
const OUTAGE_MS = 15 * 60_000
const PAGE = 500

type Deps = {
  store: Pick<Store, 'prepare' | 'commit' | 'condition'>
  clock: Clock
  feed: Pick<Feed, 'read' | 'head'>
  memory: Memory
  /** Whether no notifications of an app arrive, which a finding reports. */
  isSilent: (app_id: string) => boolean
}

export type NoSale = ReturnType<typeof openNoSale>

/** The apps of a rule, whose sales are counted. */
type Scope = { rule: Rule; apps: readonly string[] }

/** Opens the recognition. */
export function openNoSale(deps: Deps) {
  const { clock, isSilent } = deps
  const { count, last, isRecoveredSince } = openSales(deps)
  const receivingSince = openReceiving(deps)

  /** The silence of a rule's apps, if sales are usual now; its key is the last sale. */
  async function factsOf(rule: Rule, apps: readonly App[]): Promise<readonly Fact[]> {
    const since = await receivingSince(rule)
    const now = clock()
    const { hours } = rule.settings
    const window = hours * HOUR_MS
    const old = apps.filter(({ id, created_at }) => now - created_at >= FIRST_DAYS_MS && !isSilent(id))
    if (since === null || now - since < window || old.length === 0) return []
    const scope = { rule, apps: old.map(({ id }) => id) }
    if (count(scope, { from: now - window, until: now }, 1) > 0) return []
    if (isRecoveredSince(scope, now - window) || !isUsual(scope, now, window)) return []
    const sale = last(scope)
    const app_id = old.length === 1 ? (old[0]?.id ?? null) : null
    return [
      { key: `silence/${sale?.seq ?? 0}`, facts: { hours, last_at: sale?.recorded_at ?? null, app_id } },
    ]
  }

  /** Whether sales are usual in the hours before an instant. */
  function isUsual(scope: Scope, now: number, window: number): boolean {
    let sales = 0
    for (let week = 1; week <= WEEKS; week += 1) {
      const until = now - week * WEEK_MS
      sales += count(scope, { from: until - window, until }, USUAL_SALES * WEEKS - sales)
    }
    return sales >= USUAL_SALES * WEEKS
  }

  return { factsOf }
}

/**
 * Returns the function that finds since when notifications are received: the end of the last outage. Null while the
 * database cannot be written; 0 without an outage. It remembers each evaluation, so that the next start finds the outage.
 */
function openReceiving({ store, clock, memory }: Deps) {
  const sinceByRule = new Map<string, number>()
  let ended_at = 0

  function rememberedOf(rule: Rule): number {
    const known = memory.get(ownerOf(rule), 'received')
    if (known === null) return 0
    return clock() - known.at > OUTAGE_MS ? clock() : Number(known.value)
  }

  return async (rule: Rule): Promise<number | null> => {
    if (store.condition() !== 'ok') {
      ended_at = clock()
      return null
    }
    const since = Math.max(sinceByRule.get(rule.id) ?? rememberedOf(rule), ended_at)
    sinceByRule.set(rule.id, since)
    await store.commit(() => memory.set(ownerOf(rule), 'received', String(since), clock()))
    return since
  }
}

/** Opens the counting of sales by the instants at which they were recorded. */
function openSales({ store, feed }: Deps) {
  const atOrAfter = store.prepare<[number], { seq: number; recorded_at: number }>(
    'select seq, recorded_at from events where seq >= ? order by seq limit 1',
  )

  const page = openPages(feed)

  /** Counts the sales of a range, at most `enough`. */
  function count(scope: Scope, { from, until }: { from: number; until: number }, enough: number): number {
    let [found, after] = [0, seqAt(from) - 1]
    const last = seqAt(until) - 1
    while (found < enough && after < last) {
      const events = page(scope, { after, until: last, newest_first: false }, 'live')
      found += events.filter((event) => isSale(scope, event)).length
      after = events.length < PAGE ? last : (events.at(-1)?.seq ?? last)
    }
    return Math.min(found, enough)
  }

  /** The last sale; null if there was none. */
  function last(scope: Scope): FeedEvent | null {
    for (let after = feed.head() + 1; ; ) {
      const events = page(scope, { after, until: 0, newest_first: true }, 'live')
      const sale = events.find((event) => isSale(scope, event))
      if (sale) return sale
      if (events.length < PAGE) return null
      after = events.at(-1)?.seq ?? 0
    }
  }

  /** Whether a sale since an instant arrived late. It was recorded after that instant too. */
  function isRecoveredSince(scope: Scope, since: number): boolean {
    for (let after = seqAt(since) - 1; ; ) {
      const events = page(scope, { after, until: feed.head(), newest_first: false }, 'recovered')
      if (events.some((event) => event.occurred_at >= since && isSale(scope, event))) return true
      if (events.length < PAGE) return false
      after = events.at(-1)?.seq ?? feed.head()
    }
  }

  /** The first seq that was recorded at or after an instant. */
  function seqAt(at: number): number {
    let [low, high] = [0, feed.head() + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = atOrAfter.get(middle)
      if (row === undefined || row.recorded_at >= at) high = middle
      else low = row.seq + 1
    }
    return low
  }

  return { count, last, isRecoveredSince }
}

type Range = { after: number; until: number; newest_first: boolean }

/** Returns the function that reads a page of events that can be sales. */
const openPages =
  (feed: Deps['feed']) =>
  ({ rule, apps }: Scope, range: Range, origin: 'live' | 'recovered'): FeedEvent[] =>
    feed.read({
      ...range,
      limit: PAGE,
      organization_id: rule.organization_id,
      apps,
      types: ['transaction.recorded'],
      origin,
    })

const isSale = ({ rule }: Scope, event: FeedEvent): boolean => {
  const settings = { ...rule.settings, types: null, minimum_milli: null }
  return matches({ template: 'sale', settings }, event, () => null)
}
