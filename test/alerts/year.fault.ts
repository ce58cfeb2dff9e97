/** A simulated business: what each rule reports equals a plain second reading of the feed, whatever happens in between. */
import { expect, test } from 'vitest'
import { settingsOf, TEMPLATES, type TemplateName } from '../../src/alerts/rules/templates.ts'
import type { FeedEvent } from '../../src/events/feed.ts'
import { newId } from '../../src/ids.ts'
import { openHttpReceiver } from '../forwarding/receiving.ts'
import type { TestApp } from '../helpers.ts'
import { connectTo, HOUR, liveUntil, openShop, type Shop } from '../ledger/history/connected_shop.ts'
import { isLong, seed } from '../random.ts'
import { finishImport } from './alerting.ts'
import { type Look, lookAt, milestones, recordDays, spikeDays } from './figures_again.ts'

const DAYS = isLong ? 365 : 8
const ABOUT_FIGURES: readonly TemplateName[] = ['milestone', 'record_day', 'refund_spike']
const FOLLOWING: readonly TemplateName[] = TEMPLATES.filter(({ basis }) =>
  ['sale', 'event'].includes(basis),
).map(({ name }) => name)

type Data = {
  country?: string
  money?: { price_milli: number; currency: string } | null
  transaction?: { transaction_id: string; ownership?: string }
}

/** Adds a channel to the receiver, and one rule of each template that follows the feed or is about figures of the API. */
async function addRules({ windfall, organization, clock }: TestApp, url: string): Promise<void> {
  const { alerts, store, feed } = windfall
  const organization_id = organization.id
  const channel = {
    name: 'phone',
    kind: 'json',
    settings: { url },
    secrets: {},
    hides_amounts: false,
    digests: [],
  }
  await store.commit(() => {
    alerts.settings.change(organization_id, { quiet: null })
    alerts.channelAdministration.add({ ...channel, organization_id, source: 'dashboard' })
    for (const { id } of alerts.rules.list()) alerts.rules.remove(id)
    for (const template of [...FOLLOWING, ...ABOUT_FIGURES])
      alerts.rules.put({
        id: newId('alr'),
        organization_id,
        name: template,
        template,
        settings: settingsOf(template, { per_hour: null, minimum_milli: null }),
        channels: null,
        is_on: true,
        source: 'dashboard',
        cursor: feed.head(),
        created_at: clock(),
      })
  })
}

const isSale = ({ type, data }: FeedEvent): boolean =>
  type === 'transaction.recorded' && ((data as Data).money?.price_milli ?? 0) > 0
const isOneOf =
  (...types: readonly string[]) =>
  ({ type }: FeedEvent): boolean =>
    types.includes(type)

/** What each rule is about, in plain words. */
const WANTED: Partial<Record<TemplateName, (event: FeedEvent) => boolean>> = {
  sale: isSale,
  big_sale: isSale,
  first_in_country: isSale,
  new_subscriber: isOneOf('subscription.started', 'trial.converted', 'subscription.resubscribed'),
  trial: isOneOf('trial.started'),
  refund: isOneOf('subscription.refunded', 'purchase.refunded'),
  billing_failure: isOneOf('subscription.billing_failed', 'subscription.grace_started'),
  cancellation: isOneOf('subscription.renewal_disabled'),
}

/** What a rule reports, read again: by the transaction, or by the event. */
function plainly(
  template: TemplateName,
  events: readonly FeedEvent[],
  countries: ReadonlySet<string>,
): string[] {
  const own = events.filter(
    (event) =>
      event.environment === 'production' &&
      event.origin !== 'backfill' &&
      (event.data as Data).transaction?.ownership !== 'FAMILY_SHARED' &&
      WANTED[template]?.(event) === true,
  )
  const known = new Set(countries)
  const reported = own.filter((event) => {
    const { country = '' } = event.data as Data
    const isNew = !known.has(country)
    known.add(country)
    return template !== 'first_in_country' || isNew
  })
  const byEvent = template === 'billing_failure' || template === 'cancellation'
  const keys = reported.map(({ id, data }) =>
    byEvent ? id : ((data as Data).transaction?.transaction_id ?? id),
  )
  return [...new Set(keys)].sort()
}

/** The countries with a sale that the ledger knows. */
const countriesIn = ({ windfall }: TestApp): Set<string> =>
  new Set(
    windfall.store
      .prepare<[], { storefront: string }>(`
        select distinct storefront from transactions where environment = 'production' and price_milli > 0
          and ifnull(ownership, 'PURCHASED') = 'PURCHASED'`)
      .all()
      .map(({ storefront }) => storefront),
  )

/** Evaluates the rules about figures, and remembers what the API answers. */
async function evaluate(app: TestApp, looks: Look[]): Promise<void> {
  await app.windfall.metrics.whenCurrent()
  await app.windfall.alerts.evaluate()
  looks.push(await lookAt(app))
}

/**
 * Lives through days with lost notifications, gap filling, rebuilds, restarts and a clock that jumps in both directions.
 * Returns the last instance.
 */
async function liveThrough(shop: Shop, first: TestApp, looks: Look[]): Promise<TestApp> {
  let app = first
  for (let day = 1; day <= DAYS; day += 1) {
    if (day % 5 === 2) shop.simulation.lose({ from: shop.clock(), until: shop.clock() + 6 * HOUR })
    await liveUntil(shop, app, shop.clock() + 22 * HOUR, 0.02)
    await evaluate(app, looks)
    await liveUntil(shop, app, shop.clock() + 2 * HOUR, 0.02)
    await evaluate(app, looks)
    if (day % 5 === 3) await app.windfall.history.reconcile()
    if (day % 7 === 4) {
      await app.windfall.close()
      app = await connectTo(shop, { folder: app.folder })
      await begin(app)
    }
    if (day % 5 === 4) await app.windfall.metrics.rebuild()
    if (day % 6 === 5) shop.clock.turn(30 * 60_000)
    if (day % 6 === 2) shop.clock.turn(-20 * 60_000)
    await app.windfall.alerts.follow()
  }
  return app
}

/** Starts alerts, which may send to the receiver. */
async function begin({ windfall }: TestApp): Promise<void> {
  windfall.outgoing.dispatcher.reconfigure({ allow: ['127.0.0.1'], ca: null })
  await windfall.alerts.start()
}

test(`in ${DAYS} days, each rule reports what a plain second reading of the feed finds (seed ${seed})`, async () => {
  const shop = await openShop({ seed, subscribers: isLong ? 60 : 30, days: 60 })
  const connected = await connectTo(shop)
  const receiver = await openHttpReceiver()
  await connected.windfall.history.backfill()
  await finishImport(connected)
  await addRules(connected, receiver.url)
  const [head, countries] = [connected.windfall.feed.head(), countriesIn(connected)]
  await begin(connected)
  const looks: Look[] = []
  await evaluate(connected, looks)
  const { windfall } = await liveThrough(shop, connected, looks)
  const { store, feed, alerts } = windfall
  await alerts.follow()
  for (let round = 0; round < 3; round += 1) {
    shop.clock.turn(HOUR)
    alerts.wake()
    await alerts.settled()
  }
  const types = TEMPLATES.flatMap((template) => template.types)
  const events = feed.read({ after: head, limit: 1_000_000, types })
  expect(events.length).toBeGreaterThan(DAYS)
  const keys = store.prepare<[string], { key: string }>('select key from alert_messages where rule_id = ?')
  const again: Partial<Record<TemplateName, string[]>> = {
    milestone: milestones(looks).map((units) => String(units * 1_000)),
    record_day: recordDays(looks),
    refund_spike: spikeDays(looks),
  }
  for (const { id, template } of alerts.rules.list()) {
    const written = keys.all(id).map(({ key }) => key.split('/').at(-1) ?? '')
    const wanted = again[template]?.toSorted() ?? plainly(template, events, countries)
    expect([template, written.toSorted()]).toEqual([template, wanted])
  }
  expect(again.milestone?.length).toBeGreaterThan(0)
  const sends = store
    .prepare<[], { state: string; words: string | null; subject: string }>(`
      select state, words, coalesce(substr(key, length(rule_id) + 2), key) as subject
      from alert_sends join alert_messages on id = message_id`)
    .all()
  const reported = sends.filter(({ state }) => state === 'sent' || state === 'joined')
  const silent = sends.filter((send) => !reported.includes(send))
  expect(silent.filter(({ words }) => !/^The rule “.+” reports it\.$/.test(words ?? ''))).toEqual([])
  // One payment is one message, and none is without one.
  expect(reported.map(({ subject }) => subject).toSorted()).toEqual(
    [...new Set(sends.map(({ subject }) => subject))].toSorted(),
  )
  const ids = receiver.requests.map(({ body }) => (JSON.parse(body) as { id: string }).id)
  expect(ids.length).toBe(sends.filter(({ state }) => state === 'sent').length)
  expect(new Set(ids).size).toBe(ids.length)
}, 600_000)
