import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Delivery } from '../../src/forwarding/deliveries/delivery.ts'
import { runs, seed } from '../random.ts'
import { answers, type History, playHistory, type Seen, steps } from './histories.ts'

const isAccepted = ({ status }: Seen): boolean => status === 200 || status === 204
const idsOf = (list: readonly Pick<Seen, 'id'>[]): string[] => list.map(({ id }) => id)
const parsed = ({ body }: Seen): { seq: number; data: { previous_lost?: boolean } } => JSON.parse(body)

type Endpoint = History['endpoints'][number]
const byId = (requests: readonly Seen[]): Map<string, Seen[]> => Map.groupBy(requests, ({ id }) => id)

/** Events that got neither a success nor an end with a reason. */
function lost({ app }: History, { id, skippedUntil }: Endpoint, requests: readonly Seen[]): string[] {
  const rows = new Map(app.rows(id).map((row) => [row.event_id, row]))
  const accepted = new Set(idsOf(requests.filter(isAccepted)))
  return app.feed(['gap.found']).flatMap(({ id: event_id, seq }) => {
    const row = rows.get(event_id)
    if (row === undefined) return seq > skippedUntil ? [`${event_id} has no delivery`] : []
    const isRight = row.state === 'delivered' ? accepted.has(event_id) : isFinished(row)
    return isRight ? [] : [`${event_id} is ${row.state}`]
  })
}

/** Whether a delivery was given up after ten failures, or skipped by a person. */
function isFinished({ state, reason, finished_at, failures }: Delivery): boolean {
  const isExplained = state === 'failed' ? failures === 10 : state === 'skipped'
  return isExplained && reason !== null && finished_at !== null
}

/** Events that were accepted twice although each answer was stored. */
const repeated = (requests: readonly Seen[]): string[] =>
  [...byId(requests)]
    .filter(([, all]) => all.filter(isAccepted).length > 1 && !all.some(({ isAmbiguous }) => isAmbiguous))
    .map(([id]) => id)

/** Events whose attempts had different bytes, other than by an erasure, or after a crash before the answer was stored. */
const changed = (requests: readonly Seen[], erased: ReadonlySet<string>): string[] =>
  [...byId(requests)].flatMap(([id, all]) => {
    const stored = all.filter(({ isAmbiguous }) => !isAmbiguous)
    const bodies = new Set(stored.map(({ body }) => body))
    const isOfErased = [...bodies].some((body) => [...erased].some((user) => body.includes(user)))
    return bodies.size > (isOfErased ? 2 : 1) ? [id] : []
  })

/** Keys whose events were accepted in another order than that of the feed. */
function disordered(requests: readonly Seen[], keyOf: ReadonlyMap<string, string | null>): string[] {
  const first = [...byId(requests.filter(isAccepted))].map(([id, [one]]) => ({
    id,
    seq: one ? parsed(one).seq : 0,
  }))
  const byKey = Map.groupBy(first, ({ id }) => keyOf.get(id) ?? id)
  return [...byKey].flatMap(([key, all]) =>
    all.every(({ seq }, index) => index === 0 || seq > (all[index - 1]?.seq ?? 0)) ? [] : [key],
  )
}

/** Events that say wrongly whether the one before them was given up. Keys with skipped events are left out. */
function mislabelled(rows: readonly Delivery[], requests: readonly Seen[]): string[] {
  const seen = byId(requests)
  return [...Map.groupBy(rows, ({ key }) => key ?? '')].flatMap(([, all]) => {
    if (all.some(({ state }) => state === 'skipped')) return []
    const kept = all.filter(({ state }) => state !== 'dropped')
    return kept.flatMap(({ event_id }, index) => {
      const isAfterLost = kept[index - 1]?.state === 'failed'
      const said = (seen.get(event_id) ?? []).map((one) => parsed(one).data.previous_lost ?? false)
      return said.every((says) => says === isAfterLost) ? [] : [event_id]
    })
  })
}

function faultsOf(history: History, endpoint: Endpoint) {
  const requests = history.seen.get(endpoint.path) ?? []
  const rows = history.app.rows(endpoint.id)
  const isOrdered = endpoint.path !== '/plain'
  const keyOf = new Map(rows.map(({ event_id, key }) => [event_id, key]))
  return {
    lost: lost(history, endpoint, requests),
    repeated: repeated(requests),
    changed: changed(requests, history.erased),
    disordered: isOrdered ? disordered(requests, keyOf) : [],
    mislabelled: isOrdered ? mislabelled(rows, requests) : [],
  }
}

test(`through failures, pauses, restarts, set clocks and erasures, all arrive as promised (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const property = fc.asyncProperty(steps, answers, async (script, replies) => {
    const history = await playHistory(script, replies)
    const none = { lost: [], repeated: [], changed: [], disordered: [], mislabelled: [] }
    for (const endpoint of history.endpoints) expect(faultsOf(history, endpoint)).toEqual(none)
    expect(history.clashes).toEqual([])
    expect(history.busiest.ofEndpoint).toBeLessThanOrEqual(4)
    expect(history.mostWaiting).toBeLessThanOrEqual(1_000)
    await history.app.close()
  })
  await fc.assert(property, runs(8, 120))
})
