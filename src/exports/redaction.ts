/**
 * Removes erased users from exported values: Apple's tokens that are the id of an erased user, and, until an erasure has
 * scrubbed them, events that name its user.
 */
import { openPendingTargets } from '../attribution/erasure/scrub_targets.ts'
import { openTombstones } from '../attribution/erasure/tombstones.ts'
import { systemClock } from '../clock.ts'
import { decodeBody, inflateBody } from '../events/codec.ts'
import { type ScrubTarget, scrubEvent } from '../events/scrubbed.ts'
import type { Store } from '../store/store.ts'
import type { RedactionName } from './tables/table.ts'

type Given = readonly unknown[]
export type Redaction = ReturnType<typeof openRedaction>

/** Opens the redaction. Call `refresh` before each page of rows. */
export function openRedaction(store: Pick<Store, 'prepare' | 'cached'>) {
  const { isErased } = openTombstones(store, systemClock)
  const pendingTargets = openPendingTargets(store)
  let targets: readonly ScrubTarget[] = []

  const functions: Readonly<Record<RedactionName, (...given: Given) => string | null>> = {
    account_token: (app_id, token) =>
      typeof token === 'string' && isErased(String(app_id), token) ? null : (token as string | null),
    event_cause: (app_id, type, cause) =>
      targets.length === 0 ? String(cause) : scrubbed(app_id, type, cause, {}).cause,
    event_data(app_id, type, cause, body) {
      const bytes = Buffer.from(body as Uint8Array)
      if (targets.length === 0) return inflateBody(bytes).toString()
      return JSON.stringify(scrubbed(app_id, type, cause, decodeBody(bytes)).data)
    },
  }

  function scrubbed(app_id: unknown, type: unknown, cause: unknown, data: Record<string, unknown>) {
    const event = { app_id: app_id as string | null, type: String(type), cause: String(cause), data }
    return targets.reduce((one, target) => scrubEvent(one, target), event)
  }

  /** Reads which erasures have not finished. */
  function refresh(): void {
    targets = pendingTargets()
  }

  return { functions, refresh }
}
