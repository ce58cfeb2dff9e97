/** The deliveries that are being sent, and those whose result is being stored. In memory only. */

/** `body` is set while the request runs, so that an erasure can abort it. */
type Entry = {
  endpoint_id: string
  app_id: string | null
  key: string | null
  isReplay: boolean
  isSending: boolean
  body: Buffer | null
  abort: AbortController
}

export type InFlight = ReturnType<typeof openInFlight>

/** The reason of a request that an erasure aborts. The delivery is tried again without the erased user. */
export class ErasedMeanwhile extends Error {
  override readonly name = 'ErasedMeanwhile'
}

/** Opens the registry. */
export function openInFlight() {
  const entries = new Map<number, Entry>()

  /** Adds a delivery, which takes a slot of its endpoint until `sent`. */
  function add(
    id: number,
    { endpoint_id, app_id, key, isReplay }: Pick<Entry, 'endpoint_id' | 'app_id' | 'key' | 'isReplay'>,
  ) {
    const entry: Entry = {
      endpoint_id,
      app_id,
      key,
      isReplay,
      isSending: true,
      body: null,
      abort: new AbortController(),
    }
    entries.set(id, entry)
    return entry
  }

  /** Frees the slot of a delivery whose result is being stored. */
  function sent(id: number): void {
    const entry = entries.get(id)
    if (entry) Object.assign(entry, { isSending: false, body: null })
  }

  const remove = (id: number): void => void entries.delete(id)
  const get = (id: number): Entry | null => entries.get(id) ?? null
  const has = (id: number): boolean => entries.has(id)

  /** Whether a delivery of an order key is being sent or stored. */
  function hasKey(endpoint_id: string, key: string | null): boolean {
    if (key === null) return false
    for (const entry of entries.values())
      if (entry.endpoint_id === endpoint_id && entry.key === key) return true
    return false
  }

  /** The number of requests of an endpoint, or of all; of replays only with `isReplay`. */
  function sending(endpoint_id: string | null, isReplay = false): number {
    let count = 0
    for (const entry of entries.values())
      if (entry.isSending && (endpoint_id === null || entry.endpoint_id === endpoint_id))
        if (!isReplay || entry.isReplay) count += 1
    return count
  }

  /** The number of deliveries of an endpoint that are being sent or stored. */
  const ofEndpoint = (endpoint_id: string): number =>
    [...entries.values()].filter((entry) => entry.endpoint_id === endpoint_id).length

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

  return {
    add,
    sent,
    remove,
    get,
    has,
    hasKey,
    sending,
    ofEndpoint,
    abortNaming,
    abortAll,
    size: () => entries.size,
  }
}
