/** Stores gaps: notifications that Apple had sent and Windfall had not received. */
import type { Notification } from '../../apple/notification.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Feed } from '../../events/feed.ts'
import { newId } from '../../ids.ts'
import type { Store } from '../../store/store.ts'
import type { AppEnvironment } from './app_environment.ts'

/**
 * A gap. `notifications` is the number of missing notifications. `recovered` is how many of them reconciliation
 * applied; it stays lower if some arrived by other means.
 */
export type Gap = {
  id: string
  app_id: string
  environment: Environment
  first_signed_at: number
  last_signed_at: number
  notifications: number
  recovered: number
  found_at: number
  filled_at: number | null
}

/** Selects a page of gaps of these apps, newest first. `before` is `next` of the previous page. */
type GapListing = {
  apps: readonly string[]
  environment: Environment | null
  before: string | null
  limit: number
}

type Deps = { store: Store; clock: Clock; feed: Feed }
type Missing = Pick<Notification, 'uuid' | 'signed_at'>

export type Gaps = ReturnType<typeof openGaps>

export function openGaps({ store, clock, feed }: Deps) {
  const findNotification = store.prepare<[string, string, string], { one: number }>(
    'select 1 as one from notifications where app_id = ? and environment = ? and uuid = ?',
  )
  const unfilled = store.prepare<[string, string], Gap>(
    'select * from gaps where app_id = ? and environment = ? and filled_at is null',
  )
  const newest = store.prepare<[string, string], Gap>(
    'select * from gaps where app_id = ? and environment = ? order by found_at desc limit 10',
  )
  const pageBefore = store.prepare<object, Gap>(`
    select * from gaps where app_id in (select value from json_each(:apps))
      and (:environment is null or environment = :environment)
      and (:found_at is null or (found_at, id) < (:found_at, :id))
    order by found_at desc, id desc limit :limit`)
  const put = store.prepare<Gap>(`
    insert or replace into gaps ( id,  app_id,  environment,  first_signed_at,  last_signed_at,  notifications,  recovered,  found_at,  filled_at)
    values                      (:id, :app_id, :environment, :first_signed_at, :last_signed_at, :notifications, :recovered, :found_at, :filled_at)`)
  const incrementRecovered = store.prepare<[string]>('update gaps set recovered = recovered + 1 where id = ?')

  /** Whether a notification has arrived, from any source. */
  const isKnown = ({ app, environment }: AppEnvironment, { uuid }: Missing): boolean =>
    findNotification.get(app.id, environment, uuid) !== undefined

  /** The gap that is not filled yet; null if there is none. */
  const findOpen = ({ app, environment }: AppEnvironment): Gap | null =>
    unfilled.get(app.id, environment) ?? null

  /**
   * Opens a gap for missing notifications and appends `gap.found`, or extends the open gap. Returns the id of the gap;
   * null if all notifications have arrived in the meantime.
   */
  function openOrExtend(appEnvironment: AppEnvironment, candidates: readonly Missing[]): string | null {
    const missing = candidates.filter((one) => !isKnown(appEnvironment, one))
    if (missing.length === 0) return null
    const before = findOpen(appEnvironment)
    const gap = before ? extendGap(before, missing) : newGap(appEnvironment, missing)
    put.run(gap)
    if (!before) appendEvent(appEnvironment, 'gap.found', gap)
    return gap.id
  }

  const newGap = ({ app, environment }: AppEnvironment, missing: readonly Missing[]): Gap => ({
    id: newId('gap'),
    app_id: app.id,
    environment,
    recovered: 0,
    found_at: clock(),
    filled_at: null,
    ...spanOf(missing),
    notifications: missing.length,
  })

  /** Counts a recovered notification, in the unit of work that applies it. */
  const countRecovered = (id: string): void => void incrementRecovered.run(id)

  /** Records that the gap is filled, and appends `gap.filled`. */
  function fill(appEnvironment: AppEnvironment, gap: Gap): void {
    const filled = { ...gap, filled_at: clock() }
    put.run(filled)
    appendEvent(appEnvironment, 'gap.filled', filled)
  }

  function appendEvent(
    { app, environment }: AppEnvironment,
    type: 'gap.found' | 'gap.filled',
    gap: Gap,
  ): void {
    const { id: gap_id, first_signed_at, last_signed_at, notifications, recovered } = gap
    const fields = { bundle_id: app.bundle_id, gap_id, first_signed_at, last_signed_at }
    feed.append({
      type,
      environment,
      app_id: app.id,
      organization_id: app.organization_id,
      origin: 'live',
      cause: gap_id,
      customer_id: null,
      subject: null,
      occurred_at: clock(),
      signed_at: null,
      data: () => ({ ...fields, notifications: type === 'gap.found' ? notifications : recovered }),
    })
  }

  /** The last ten gaps, newest first. */
  const list = ({ app, environment }: AppEnvironment): Gap[] => newest.all(app.id, environment)

  /**
   * A page of gaps.
   *
   * @throws Refusal 400 `invalid_request` for a `before` that is not a cursor.
   */
  function page({ apps, environment, before, limit }: GapListing): { gaps: Gap[]; next: string | null } {
    const cursor = before === null ? { found_at: null, id: null } : cursorIn(before)
    const gaps = pageBefore.all({ apps: JSON.stringify(apps), environment, limit, ...cursor })
    const last = gaps.at(-1)
    return { gaps, next: last && gaps.length === limit ? `${last.found_at}.${last.id}` : null }
  }

  return { isKnown, findOpen, openOrExtend, countRecovered, fill, list, page }
}

function cursorIn(text: string): { found_at: number; id: string } {
  const [, found_at, id] = /^(\d{1,15})\.(\w+)$/.exec(text) ?? []
  if (found_at !== undefined && id !== undefined) return { found_at: Number(found_at), id }
  const message = 'must be `next` of the previous page'
  throw new Refusal(400, 'invalid_request', `before: ${message}`, { errors: [{ path: 'before', message }] })
}

/** The first and last signing dates of notifications. Apple's first payloads have no date; they count as 0. */
function spanOf(missing: readonly Missing[]) {
  const dates = missing.map(({ signed_at }) => signed_at ?? 0)
  return {
    first_signed_at: dates.reduce((a, b) => Math.min(a, b)),
    last_signed_at: dates.reduce((a, b) => Math.max(a, b)),
  }
}

function extendGap(gap: Gap, missing: readonly Missing[]): Gap {
  const { first_signed_at, last_signed_at } = spanOf(missing)
  return {
    ...gap,
    first_signed_at: Math.min(gap.first_signed_at, first_signed_at),
    last_signed_at: Math.max(gap.last_signed_at, last_signed_at),
    notifications: gap.recovered + missing.length,
  }
}
