/** The deliveries that are being sent, and those whose result is being stored. In memory only. */
import { openHook } from '../../hooks.ts'

/** `body` is set while the request runs, so that an erasure can abort it. */
type Entry = {
  endpoint_id: string
  app_id: string | null
  key: string | null
  isReplay: boolean
  /** Whether it is neither of a replay, nor was tried before, nor is sent to a failing endpoint. */
  isNew: boolean
  isSending: boolean
  body: Buffer | null
  abort: AbortController
}

export type InFlight = ReturnType<typeof openInFlight>

/** The reason of a request that an erasure aborts. The delivery is tried again without the erased user. */
export class ErasedMeanwhile extends Error {
  override readonly name = 'ErasedMeanwhile'
}

/** The reason of a request that a stop aborts. Its delivery is tried again after the next start. */
export class Stopping extends Error {
  override readonly name = 'Stopping'
}

type Entries = Map<number, Entry>

/** Opens the registry. */
export function openInFlight() {
  const entries: Entries = new Map()
  return { ...openEntries(entries), ...openCounts(entries), ...openAborts(entries) }
}

function openEntries(entries: Entries) {
  const slotFreed = openHook()

  /** Adds a delivery, which takes a slot of its endpoint until `sent`. */
  function add(
    id: number,
    entry: Pick<Entry, 'endpoint_id' | 'app_id' | 'key' | 'isReplay' | 'isNew'>,
  ): void {
    entries.set(id, { ...entry, isSending: true, body: null, abort: new AbortController() })
  }

  /** Frees the slot of a delivery whose result is being stored. */
  function sent(id: number): void {
    const entry = entries.get(id)
    if (!entry) return
    Object.assign(entry, { isSending: false, body: null })
    slotFreed.call()
  }

  const remove = (id: number): void => void entries.delete(id)
  const get = (id: number): Entry | null => entries.get(id) ?? null
  const has = (id: number): boolean => entries.has(id)

  /** `onSlotFreed` calls the listener when a request ended, before its result is stored. */
  return { add, sent, remove, get, has, onSlotFreed: slotFreed.add }
}

function openCounts(entries: Entries) {
  const count = (matches: (entry: Entry) => boolean): number => {
    let matching = 0
    for (const entry of entries.values()) if (matches(entry)) matching += 1
    return matching
  }

  /** The number of requests to all endpoints. */
  const sendingInAll = (): number => count(({ isSending }) => isSending)

  /** The number of requests to an endpoint; of replays only with `isReplay`. */
  const sending = (endpoint_id: string, isReplay = false): number =>
    count((entry) => entry.isSending && entry.endpoint_id === endpoint_id && (entry.isReplay || !isReplay))

  /** The number of requests to an endpoint that are not of new events. */
  const repeating = (endpoint_id: string): number =>
    count((entry) => entry.isSending && entry.endpoint_id === endpoint_id && !entry.isNew)

  /** The number of such requests in all. */
  const repeatingInAll = (): number => count((entry) => entry.isSending && !entry.isNew)

  /** The number of deliveries of an endpoint that were chosen, and whose request did not begin yet. */
  const begun = (endpoint_id: string): number =>
    count((entry) => entry.isSending && entry.body === null && entry.endpoint_id === endpoint_id)

  /** The number of deliveries of an endpoint that are being sent or stored. */
  const ofEndpoint = (endpoint_id: string): number => count((entry) => entry.endpoint_id === endpoint_id)

  /** Whether a delivery of an order key is being sent or stored. */
  const hasKey = (endpoint_id: string, key: string | null): boolean =>
    key !== null && count((entry) => entry.endpoint_id === endpoint_id && entry.key === key) > 0

  return { sendingInAll, sending, repeating, repeatingInAll, begun, ofEndpoint, hasKey }
}

function openAborts(entries: Entries) {
  /** Aborts the requests of an app whose body contains the user id. */
  function abortNaming(app_id: string, app_user_id: string): void {
    const needles = [app_user_id, app_user_id.toLowerCase()].map((text) => JSON.stringify(text).slice(1, -1))
    for (const { app_id: of, body, abort } of entries.values())
      if (of === app_id && body !== null && needles.some((needle) => body.includes(needle)))
        abort.abort(new ErasedMeanwhile('a user in the body was erased'))
  }

  /** Aborts all requests. */
  function abortAll(reason: Error): void {
    for (const { abort } of entries.values()) abort.abort(reason)
  }

  return { abortNaming, abortAll }
}
