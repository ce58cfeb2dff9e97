/** Counts SDK calls that were answered with a 4xx, by UTC day, app, platform and code. */
import type { H3Event } from 'h3'
import type { Apps } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import { addDays, dayOfUtc } from '../days.ts'
import { Refusal } from '../errors.ts'
import { isAborted } from '../http/body/body.ts'
import type { Route } from '../http/route.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import { reasonOf } from '../store/warnings.ts'

const FLUSH_EVERY_MS = 60_000
const RETENTION_DAYS = 30
/** The maximum number of counters: rows for one day, and entries in memory. Further calls are counted as `OTHERS`. */
const MAX_COUNTERS = 1_000
/** Beyond this number, only connected apps get a counter of their own, because any caller can invent bundle ids. */
const MAX_UNCONNECTED_COUNTERS = 500
const EXAMPLE_CHARACTERS = 300
const OTHERS = '*'

const BUNDLE_ID = /^[\w.-]{1,255}$/
const CONTROL_CHARACTERS = /\p{C}/gu

type RefusalKey = { refused_on: string; bundle_id: string; platform: string; code: string }
type RefusalCount = RefusalKey & { calls: number; example: string | null; last_at: number }
type ClaimedApp = Pick<RefusalKey, 'bundle_id' | 'platform'>

type Deps = {
  store: Store
  clock: Clock
  apps: Pick<Apps, 'byBundle' | 'byAndroidPackage'>
  log: Pick<Log, 'warn'>
}

export type RefusedCalls = ReturnType<typeof openRefusedCalls>

/**
 * Counts refused calls in memory and writes the counts within a minute, so that a flood of refused calls costs one
 * small commit a minute. If the store cannot write, no count is lost and no call fails.
 */
export function openRefusedCalls({ store, clock, apps, log }: Deps) {
  const claims = new WeakMap<H3Event, ClaimedApp>()
  let counts = new Map<string, RefusalCount>()
  let timer: NodeJS.Timeout | null = null
  let flushing: Promise<void> = Promise.resolve()

  const increment = store.prepare<RefusalCount>(`
    update refused_calls set calls = calls + :calls, example = coalesce(:example, example), last_at = :last_at
    where refused_on = :refused_on and bundle_id = :bundle_id and platform = :platform and code = :code`)
  const insert = store.prepare<RefusalCount>(`
    insert into refused_calls ( refused_on,  bundle_id,  platform,  code,  calls,  example,  last_at)
    values                    (:refused_on, :bundle_id, :platform, :code, :calls, :example, :last_at)`)
  const rowsOfDay = store.prepare<[string], { count: number }>(
    'select count(*) as count from refused_calls where refused_on = ?',
  )
  const dropBefore = store.prepare<[string]>('delete from refused_calls where refused_on < ?')

  /** Wraps a route's handler so that each 4xx it throws is counted, unless it was not delivered: the SDK retries. */
  const countRefusals =
    (handler: Route['handler']): Route['handler'] =>
    async (event) => {
      try {
        return await handler(event)
      } catch (error) {
        if (error instanceof Refusal && error.status < 500 && !isAborted(event)) count(event, error)
        throw error
      }
    }

  /** Records which app the body names, before the body is validated. Returns the body. */
  function noteClaim(event: H3Event, body: unknown): unknown {
    const { bundleId, platform } = (body ?? {}) as { bundleId?: unknown; platform?: unknown }
    claims.set(event, { bundle_id: bundleIdIn(bundleId), platform: platformIn(platform) })
    return body
  }

  function count(event: H3Event, refusal: Refusal): void {
    const { bundle_id, platform } = claims.get(event) ?? { bundle_id: '', platform: '' }
    const last_at = clock()
    const name = { refused_on: dayOfUtc(last_at), bundle_id, platform, code: refusal.code }
    add({ ...name, calls: 1, example: exampleOf(refusal), last_at })
    timer ??= setTimeout(() => void flush(), FLUSH_EVERY_MS).unref()
  }

  function add(more: RefusalCount): void {
    const known = counts.get(keyOf(more))
    if (known) {
      // Counts that could not be written are merged after newer counts.
      const [newer, older] = more.last_at < known.last_at ? [known, more] : [more, known]
      const { last_at } = newer
      Object.assign(known, {
        calls: known.calls + more.calls,
        example: newer.example ?? older.example,
        last_at,
      })
    } else if (isOthers(more) || counts.size < limitFor(more)) counts.set(keyOf(more), { ...more })
    else add(asOthers(more))
  }

  /** How many counters a day may have before a further key is counted under `OTHERS`. */
  const limitFor = ({ bundle_id }: RefusalCount): number =>
    apps.byBundle(bundle_id).length + apps.byAndroidPackage(bundle_id).length > 0
      ? MAX_COUNTERS
      : MAX_UNCONNECTED_COUNTERS

  /** Writes the counts so far. Resolves when they are on disk, or back in memory after a failure. */
  function flush(): Promise<void> {
    flushing = flushing.then(write)
    return flushing
  }

  async function write(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (counts.size === 0) return
    const batch = [...counts.values()]
    counts = new Map()
    try {
      await store.commit(() => {
        for (const one of batch) saveCount(one)
      })
    } catch (error) {
      for (const one of batch) add(one)
      timer ??= setTimeout(() => void flush(), FLUSH_EVERY_MS).unref()
      log.warn('the counts of refused SDK calls could not be written; they stay in memory', {
        reason: reasonOf(error),
      })
    }
  }

  function saveCount(one: RefusalCount): void {
    if (increment.run(one).changes > 0) return
    const rows = rowsOfDay.get(one.refused_on)?.count ?? 0
    if (isOthers(one) || rows < limitFor(one)) insert.run(one)
    else saveCount(asOthers(one))
  }

  /** Deletes the counts of days more than 30 days ago, inside a unit of work. */
  const expire = (): void => void dropBefore.run(addDays(dayOfUtc(clock()), -RETENTION_DAYS))

  /** Writes the remaining counts and stops. */
  async function close(): Promise<void> {
    await flush()
    if (timer !== null) clearTimeout(timer)
  }

  return { countRefusals, noteClaim, flush, expire, close }
}

const keyOf = ({ refused_on, bundle_id, platform, code }: RefusalKey): string =>
  `${refused_on} ${bundle_id} ${platform} ${code}`
const isOthers = ({ bundle_id }: RefusalKey): boolean => bundle_id === OTHERS
const asOthers = (one: RefusalCount): RefusalCount => ({
  ...one,
  bundle_id: OTHERS,
  platform: '',
  example: null,
})

const bundleIdIn = (value: unknown): string =>
  typeof value === 'string' && BUNDLE_ID.test(value) ? value : ''

function platformIn(value: unknown): string {
  if (typeof value !== 'string' || value === '') return ''
  const platform = value.toLowerCase()
  return platform === 'ios' || platform === 'android' ? platform : 'other'
}

/**
 * The fault in the call, without any text that the caller sent: the first schema fault of the body, or why a signed
 * transaction was rejected. Null for other codes, which need no example.
 */
function exampleOf({ code, errors }: Refusal): string | null {
  const [fault] = errors ?? []
  if (fault === undefined) return null
  // An attribute's name can be personal data, too.
  const path = fault.path.replace(/^attributes\..*/s, 'attributes.*')
  if (code === 'invalid_request') return truncated(`${path}: ${fault.message}`)
  if (code !== 'invalid_signed_transaction') return null
  const [, reason] = /^([a-z_]+): /.exec(fault.message) ?? []
  return `${fault.path}: ${reason ?? 'it does not belong to this app or this purchase'}`
}

const truncated = (text: string): string => text.replace(CONTROL_CHARACTERS, ' ').slice(0, EXAMPLE_CHARACTERS)
