/** Adds to events, as they are read, what each one changes in MRR. */
import type { Clock } from '../../clock.ts'
import { decodeBody } from '../../events/codec.ts'
import type { FeedEvent } from '../../events/feed.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'
import type { Enrichment } from '../customers/enrichment.ts'
import { movementsOf, withLevels } from '../lineage/movements.ts'
import type { SettingsOf } from '../lineage/settings.ts'
import { timelineOf } from '../lineage/timeline.ts'
import { CARRIER_TYPES, effectsOf, LATER_CHARGES, type LineageEvent, type MrrEffect } from './carriers.ts'
import { fromEach, type Indexed, type LineageFacts, lineagesText, openLineageFacts } from './lineage_facts.ts'

/** `mrr_effect` is null for an event that cannot change MRR. */
type WithEffect<Event> = Event & { mrr_effect: MrrEffect | null }

type Deps = { store: Pick<Store, 'prepare'>; clock: Clock; settingsOf: SettingsOf }
type EventRow = Omit<LineageEvent, 'transaction_id'> & { body: Buffer | null }
/** The fields of a snapshot that name the charge of an event. */
type Snapshot = { transaction?: { transaction_id?: string }; notification?: { subtype?: string } }

/** The lineages that are read before other requests are served. */
const SLICE = 50
const NO_FACTS: Facts = { events: [], transactions: [], renewals: [] }
/** With these subtypes, an offer was redeemed with a new purchase. Otherwise it applies to a later period. */
const PURCHASE_SUBTYPES = ['UPGRADE', 'INITIAL_BUY', 'RESUBSCRIBE']

/** The facts of a lineage, and its events that can change MRR, in the order of the feed. */
type Facts = LineageFacts & { events: EventRow[] }

/** Opens the reading of facts and events of many lineages at once. */
function openFacts(store: Pick<Store, 'prepare'>) {
  const lineageFacts = openLineageFacts(store)
  const selectEvents = store.prepare<{ lineages: string; types: string; later: string }, Indexed<EventRow>>(`
    select l.key as at, f.seq, f.type, f.occurred_at,
      case when f.type in (select value from json_each(:later)) then f.body end as body
    ${fromEach('events')} and f.subject = l.value ->> 2
      and f.type in (select value from json_each(:types)) order by l.key, f.seq`)
  const [types, later] = [JSON.stringify(CARRIER_TYPES), JSON.stringify(LATER_CHARGES)]

  return (keys: readonly LineageKey[]): Facts[] => {
    const found = selectEvents.all({ lineages: lineagesText(keys), types, later })
    const events = Map.groupBy(found, ({ at }) => at)
    return lineageFacts(keys).map((facts, at) => ({ ...facts, events: events.get(at) ?? [] }))
  }
}

export function openEffects({ store, clock, settingsOf }: Deps) {
  const factsOf = openFacts(store)

  /** The effects of all events of some lineages, by seq. */
  function read(keys: readonly LineageKey[]): Map<number, MrrEffect> {
    const facts = factsOf(keys)
    return new Map(keys.flatMap((key, at) => [...effectsOfLineage(key, facts[at] ?? NO_FACTS)]))
  }

  function effectsOfLineage(
    key: LineageKey,
    { events, transactions, renewals }: Facts,
  ): Map<number, MrrEffect> {
    const settings = settingsOf(key.app_id)
    if (settings === null) return new Map()
    const { periodOf, factors, toBase } = settings
    const segments = withLevels(timelineOf(transactions, renewals, periodOf), factors, toBase)
    if (segments.length === 0) return new Map()
    const hasFirst = transactions.some(({ transaction_id }) => transaction_id === key.original_transaction_id)
    const movements = movementsOf(segments, hasFirst, toBase)
    return effectsOf(
      { events: events.map(lineageEvent), transactions, segments, movements },
      { currency: settings.currency, now: clock() },
    )
  }

  /** Adds the effects to events of at most `SLICE` lineages in one turn; events of further lineages get null. */
  function addNow<Event extends FeedEvent>(events: readonly Event[]): WithEffect<Event>[] {
    const effects = read(lineagesOf(events).slice(0, SLICE))
    return events.map((event) => ({ ...event, mrr_effect: effects.get(event.seq) ?? null }))
  }

  /** Adds the effects to events. */
  async function add<Event extends FeedEvent>(events: readonly Event[]): Promise<WithEffect<Event>[]> {
    const lineages = lineagesOf(events)
    const effects = new Map<number, MrrEffect>()
    for (let from = 0; from < lineages.length; from += SLICE) {
      if (from > 0) await yieldToEventLoop()
      for (const [seq, effect] of read(lineages.slice(from, from + SLICE))) effects.set(seq, effect)
    }
    return events.map((event) => ({ ...event, mrr_effect: effects.get(event.seq) ?? null }))
  }

  /** An enrichment that adds the effects to the events after its own data. */
  const around = ({ enrich, ready, complete }: Enrichment) => ({
    enrich: async (...args: Parameters<typeof enrich>) => add(await enrich(...args)),
    ready,
    complete: (...args: Parameters<typeof complete>) => addNow(complete(...args)),
  })

  return { around }
}

/** The event without its snapshot, except for the charge that it names. */
function lineageEvent({ body, ...event }: EventRow): LineageEvent {
  const snapshot = body === null ? {} : (decodeBody(body) as Snapshot)
  const isCharge =
    event.type !== 'subscription.offer_redeemed' ||
    PURCHASE_SUBTYPES.includes(snapshot.notification?.subtype ?? '')
  return { ...event, transaction_id: (isCharge && snapshot.transaction?.transaction_id) || null }
}

/** The lineages of the events that can change MRR, each once. */
function lineagesOf(events: readonly FeedEvent[]): LineageKey[] {
  const lineages = new Map<string, LineageKey>()
  for (const { type, app_id, environment, subject } of events) {
    if (!CARRIER_TYPES.includes(type) || app_id === null || environment === null || subject === null) continue
    const key = { app_id, environment, original_transaction_id: subject } as LineageKey
    lineages.set(JSON.stringify([app_id, environment, subject]), key)
  }
  return [...lineages.values()]
}
