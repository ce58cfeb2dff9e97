/** Removes erased users from deliveries: stored bodies, excerpts of responses, and requests that run. */
import type { Erasures } from '../../attribution/erasure/erasure.ts'
import type { ScrubTarget } from '../../events/scrubbed.ts'
import type { Store } from '../../store/store.ts'
import { scrubBody } from '../bodies/scrubbed_body.ts'
import type { EndpointKind } from '../endpoints/endpoints.ts'
import type { InFlight } from '../sending/in_flight.ts'
import type { Deliveries } from './deliveries.ts'

/** The number of deliveries that are looked through before requests are served. */
const SLICE = 50

type Deps = {
  store: Store
  erasures: Pick<Erasures, 'onErase' | 'addScrubber' | 'pendingTargets'>
  deliveries: Deliveries
  inFlight: InFlight
}

/** Opens the erasing, and adds it to the steps of an erasure. */
export function openErasing({ store, erasures, deliveries, inFlight }: Deps) {
  const selectHead = store.prepare<[], { id: number | null }>('select max(id) as id from deliveries')
  const selectSlice = store.prepare<[number, number, string], { id: number; kind: EndpointKind }>(`
    select deliveries.id, kind from deliveries join endpoints on endpoints.id = endpoint_id
    where deliveries.id > ? and deliveries.id <= ? and app_id = ?`)
  const selectExcerpts = store.prepare<[number], { number: number; excerpt: string }>(
    'select number, excerpt from delivery_attempts where delivery_id = ? and excerpt is not null',
  )
  const clearExcerpt = store.prepare<[number, number]>(
    'update delivery_attempts set excerpt = null where delivery_id = ? and number = ?',
  )
  let count = 0

  erasures.onErase(({ app_id, app_user_id }) => {
    count += 1
    store.afterCommit(() => inFlight.abortNaming(app_id, app_user_id))
  })

  erasures.addScrubber({ step: 'deliveries', end: () => selectHead.get()?.id ?? 0, findRows })

  /** Finds the deliveries of a slice that name a user. */
  function findRows(
    user: { app_id: string; app_user_id: string; erasure_id: string },
    after: number,
    until: number,
  ) {
    const reached = Math.min(after + SLICE, until)
    const target = { ...user, replacement: `forgotten/${user.erasure_id}` }
    const changes = selectSlice.all(after, reached, user.app_id).flatMap((row) => changesOf(row, target))
    return {
      reached,
      changed: changes.length,
      apply: () => {
        for (const change of changes) change()
      },
    }
  }

  /**
   * A receiver may repeat any part of a body, so the excerpts of a delivery that names the user are removed. So are those
   * of a delivery whose body is no longer stored. Apple’s notifications stay as Apple signed them.
   */
  function changesOf({ id, kind }: { id: number; kind: EndpointKind }, target: ScrubTarget): (() => void)[] {
    const body = kind === 'apple' ? null : deliveries.body(id)
    const scrubbed = body === null ? null : scrubBody(body, target)
    const isNaming = kind === 'events' && (scrubbed === null || scrubbed !== body)
    const changes: (() => void)[] = []
    if (scrubbed !== null && isNaming) changes.push(() => deliveries.setBody(id, scrubbed))
    for (const { number, excerpt } of selectExcerpts.all(id))
      if (isNaming || names(excerpt, target)) changes.push(() => clearExcerpt.run(id, number))
    return changes
  }

  const { pendingTargets } = erasures
  return { count: () => count, pendingTargets, scrubText: openTextScrubbing(pendingTargets) }
}

/** Returns a function that gives a text of a receiver; null if it names a user who is being erased. */
function openTextScrubbing(pendingTargets: Erasures['pendingTargets']) {
  return (text: string | null, app_id: string | null): string | null => {
    const isNaming = (target: ScrubTarget) => target.app_id === app_id && text !== null && names(text, target)
    return pendingTargets().some(isNaming) ? null : text
  }
}

/** Whether a text contains the user id, in the spelling of JSON or as it is. */
function names(text: string, { app_user_id }: ScrubTarget): boolean {
  const lower = text.toLowerCase()
  const spellings = [app_user_id, JSON.stringify(app_user_id).slice(1, -1), encodeURIComponent(app_user_id)]
  return spellings.some((spelling) => lower.includes(spelling.toLowerCase()))
}
