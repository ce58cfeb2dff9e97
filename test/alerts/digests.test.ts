import { expect, test } from 'vitest'
import type { Channel } from '../../src/alerts/channels/channels.ts'
import type { DigestFigures } from '../../src/alerts/digests/figures.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock } from '../helpers.ts'
import { type AlertingApp, openAlertingApp, purchase } from './alerting.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Sets the zone of the organization, and recomputes the figures in it. */
async function moveTo(app: AlertingApp, time_zone: string): Promise<void> {
  await declareZone(app, time_zone)
  await app.windfall.metrics.whenCurrent()
}

async function declareZone({ windfall, organization }: AlertingApp, time_zone: string): Promise<void> {
  await windfall.store.commit(() => windfall.organizations.declare([{ ...organization, time_zone }]))
  await windfall.metrics.resume()
}

const BERLIN = { WINDFALL_ORGANIZATIONS: '[{ slug = "default", time_zone = "Europe/Berlin" }]' }

/** Opens a Windfall in Berlin at an instant, whose channel `phone` gets digests since then. */
async function openDigesting(
  from: string,
  { digests = ['daily'], folder, ...fields }: Partial<Channel> & { folder?: string } = {},
): Promise<AlertingApp> {
  const app = await openAlertingApp({
    clock: handClock(Date.parse(from)),
    env: BERLIN,
    ...(folder && { folder }),
  })
  await wanting(app, { digests, ...fields })
  await minute(app)
  return app
}

/** Changes the channel. */
async function wanting(app: AlertingApp, fields: Partial<Channel>): Promise<void> {
  const { channels } = app.alerts
  const [phone] = channels.list()
  if (phone) await app.windfall.store.commit(() => channels.put({ ...phone, ...fields }))
}

/** What the clock does each minute, at an instant. */
async function minute(app: AlertingApp, at: string | number = app.clock()): Promise<void> {
  app.clock.set(typeof at === 'string' ? Date.parse(at) : at)
  await app.alerts.digests.make()
  await app.settle()
}

const titles = (app: AlertingApp, name = 'phone'): string[] => app.got(name).map(({ title }) => title)
const rows = (app: AlertingApp) =>
  app.alerts.digests
    .list({ organization_id: null, before: null, limit: 100 })
    .map(({ kind, digested_on, figures }) => `${kind} ${digested_on}${figures === null ? ' skipped' : ''}`)

async function sell(app: AlertingApp, at: string, price: number, fields: object = {}): Promise<void> {
  app.clock.set(Date.parse(at))
  const transaction = {
    price,
    expiresDate: app.clock() + 365 * DAY,
    productId: 'lantern.pro.yearly',
    ...fields,
  }
  await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY', transaction })
}

async function get<Answer>(app: AlertingApp, path: string): Promise<Answer> {
  const answer = await app.request(`/api/v1/${path}`, { headers: await app.signIn() })
  return (await answer.json()) as Answer
}

/** Four Mondays with 10, 20, 30 and 40 dollars, then one with 60 and a trial. */
async function sellFiveMondays(app: AlertingApp): Promise<void> {
  for (const [index, day] of ['06-01', '06-08', '06-15', '06-22'].entries())
    await sell(app, `2026-${day}T12:00Z`, (index + 1) * 10_000)
  await sell(app, '2026-06-29T12:00Z', 45_000, { storefront: 'DEU' })
  await sell(app, '2026-06-29T12:01Z', 15_000)
  const offer = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0 }
  await sell(app, '2026-06-29T12:02Z', 0, offer)
}

test('a day against the same weekday of the last four weeks, once, for a lock screen and for e-mail', async () => {
  const app = await openDigesting('2026-06-01T06:30Z')
  await sellFiveMondays(app)
  await app.windfall.metrics.whenCurrent()
  await minute(app, '2026-06-30T05:59Z')
  expect(titles(app)).toEqual([])
  await minute(app, '2026-06-30T06:00Z')
  await minute(app, '2026-06-30T06:01Z')
  const [digest] = app.got()
  expect(titles(app)).toEqual(['☀️ Mon, Jun 29 · $60.00 · +140%'])
  expect(digest?.body.split('\n').slice(0, 3)).toEqual([
    'usual $25.00 · MRR $13.33 (+$5.00)',
    '1 new trial · 0 subscriptions lost',
    'Best: 🇩🇪 Germany $45.00',
  ])
  expect(digest?.body).toContain('⚠️ ')
  expect(digest?.body).not.toContain('Provisional')
  expect(digest?.fields).toContainEqual({ label: 'MRR: New', value: '+$5.00' })
  const [row] = app.alerts.digests.list({ organization_id: null, before: null, limit: 1 })
  expect(digest?.url).toMatch(new RegExp(`/digests/${row?.id}$`))
})

test('the figures equal those of the API at the snapshot, and later corrections do not change them', async () => {
  const app = await openDigesting('2026-06-01T06:30Z', { digests: ['daily', 'weekly'] })
  await sellFiveMondays(app)
  await app.windfall.metrics.whenCurrent()
  await minute(app, '2026-07-05T23:00Z')
  await minute(app, '2026-07-06T06:00Z')
  expect(rows(app).slice(0, 2)).toEqual(['weekly 2026-07-06', 'daily 2026-07-06'])
  const { digests: all } = await get<{ digests: { id: string; kind: string }[] }>(app, 'alerts/digests')
  type Point = Record<'milli' | 'count' | 'ratio' | 'numerator' | 'denominator', number> & {
    complete: boolean
  }
  type Answer = { series: { part: string | null; value: string | null; points: Point[] }[] }
  for (const { id, kind } of all.slice(0, 2)) {
    const { figures } = await get<{ figures: DigestFigures }>(app, `alerts/digests/${id}`)
    const [interval, from] = kind === 'daily' ? ['day', '2026-06-07'] : ['week', '2026-06-01']
    const points = async (name: string, query = '', part: string | null = null): Promise<Point[]> => {
      const range = `from=${from}&to=2026-07-05&interval=${interval}`
      const { series } = await get<Answer>(app, `metrics/${name}?${range}${query}`)
      return series.find((one) => one.part === part)?.points ?? []
    }
    const usual = (all: Point[]): number => {
      const step = kind === 'daily' ? 7 : 1
      return [1, 2, 3, 4].reduce((sum, back) => sum + (all.at(-1 - back * step)?.milli ?? Number.NaN), 0) / 4
    }
    for (const [name, query] of [
      ['revenue', ''],
      ['proceeds', '&basis=proceeds'],
    ] as const) {
      const all = await points('revenue', query)
      const last = all.at(-1)
      expect(figures[name]).toEqual({
        value: last?.milli,
        usual: usual(all),
        usual_of: 4,
        is_provisional: !last?.complete,
      })
    }
    const [before, mrr] = (await points('mrr')).slice(-2)
    expect(figures.mrr).toMatchObject({ milli: mrr?.milli, before_milli: before?.milli })
    const moved = (await points('mrr_movements', '', 'new')).at(-1)?.milli ?? 0
    expect(figures.mrr.movements).toEqual(moved === 0 ? [] : [{ part: 'new', title: 'New', milli: moved }])
    expect(figures.trials.started.value).toBe((await points('new_trials')).at(-1)?.count)
    expect(figures.trials.active).toBe((await points('active_trials')).at(-1)?.count)
    const churn = (await points('churn_rate')).at(-1)
    expect(figures.churn).toEqual({ ratio: churn?.ratio, lost: churn?.numerator, of: churn?.denominator })
    if (kind === 'weekly') {
      expect(figures.revenue).toMatchObject({ value: 60_000, usual: 25_000 })
      expect(figures.best_country).toEqual({ country: 'DEU', milli: 45_000 })
    }
  }
  const stored = await get(app, 'alerts/digests')
  await sell(app, '2026-07-06T07:00Z', 5_000, { purchaseDate: Date.parse('2026-07-05T12:00Z') })
  await app.windfall.metrics.whenCurrent()
  await minute(app)
  expect(await get(app, 'alerts/digests')).toEqual(stored)
  expect(app.got()).toHaveLength(2)
})

test('once for a local date after a change of zone, in both directions', async () => {
  const app = await openDigesting('2026-06-01T05:00Z')
  await minute(app, '2026-06-01T06:00Z')
  await moveTo(app, 'America/Los_Angeles')
  await minute(app, '2026-06-01T15:00Z')
  expect(rows(app)).toEqual(['daily 2026-06-01'])
  await moveTo(app, 'Asia/Tokyo')
  await minute(app, '2026-06-01T23:00Z')
  await minute(app, '2026-06-02T06:00Z')
  expect(rows(app)).toEqual(['daily 2026-06-02', 'daily 2026-06-01'])
})

test('a start within six hours makes it, a later one skips it, and the next day goes on', async () => {
  const folder = temporaryFolder()
  const app = await openDigesting('2026-06-01T05:00Z', { folder: folder.path })
  await app.close()
  const reopen = (at: string) =>
    openAlertingApp({ clock: handClock(Date.parse(at)), env: BERLIN, folder: folder.path })
  const early = await reopen('2026-06-01T11:59Z')
  await minute(early)
  expect(rows(early)).toEqual(['daily 2026-06-01'])
  await minute(early)
  await early.close()
  const late = await reopen('2026-06-02T12:01Z')
  await minute(late)
  expect(rows(late)).toEqual(['daily 2026-06-02 skipped', 'daily 2026-06-01'])
  await minute(late, '2026-06-03T06:00Z')
  expect(rows(late)[0]).toBe('daily 2026-06-03')
  await late.close()
  folder.remove()
})

test('waits up to 30 minutes for figures that are being computed, then marks them as provisional', async () => {
  const app = await openDigesting('2026-06-01T06:30Z')
  const letGo = app.windfall.metrics.hold()
  await sell(app, '2026-06-01T12:00Z', 10_000)
  await minute(app, '2026-06-02T06:00Z')
  await minute(app, '2026-06-02T06:29Z')
  expect(rows(app)).toEqual([])
  await minute(app, '2026-06-02T06:30Z')
  expect(app.got()[0]?.body).toContain('Provisional')
  const [made] = app.alerts.digests.list({ organization_id: null, before: null, limit: 1 })
  expect(made?.figures).toMatchObject({ is_behind: true })
  await minute(app, '2026-06-03T06:00Z')
  letGo()
  await app.windfall.metrics.whenCurrent()
  await minute(app, '2026-06-03T06:01Z')
  expect(
    app.alerts.digests.list({ organization_id: null, before: null, limit: 1 })[0]?.figures,
  ).toMatchObject({ is_behind: false, until_on: '2026-06-02' })
})

test('waits for the figures of a changed zone, then is about the days of the old one', async () => {
  const app = await openDigesting('2026-06-01T05:00Z')
  await minute(app, '2026-06-01T06:00Z')
  await sell(app, '2026-06-01T12:00Z', 10_000)
  await app.windfall.metrics.whenCurrent()
  const letGo = app.windfall.metrics.hold()
  await declareZone(app, 'America/Los_Angeles')
  await minute(app, '2026-06-02T15:00Z')
  expect(rows(app)).toEqual(['daily 2026-06-01'])
  await minute(app, '2026-06-02T15:30Z')
  const [made] = app.alerts.digests.list({ organization_id: null, before: null, limit: 1 })
  expect(made?.figures).toMatchObject({ is_behind: true, time_zone: 'Europe/Berlin', until_on: '2026-06-01' })
  letGo()
})

test('figures that can still change are marked as provisional', async () => {
  const app = await openDigesting('2026-06-01T06:30Z')
  await sell(app, '2026-06-01T12:00Z', 10_000, { currency: 'EUR' })
  await app.windfall.metrics.whenCurrent()
  await minute(app, '2026-06-02T06:00Z')
  expect(app.got()[0]?.body).toContain('Provisional: figures can still change.')
  const [made] = app.alerts.digests.list({ organization_id: null, before: null, limit: 1 })
  expect(made?.figures).toMatchObject({
    is_provisional: true,
    is_behind: false,
    revenue: { is_provisional: true },
  })
})

test('on the days of both clock changes', async () => {
  const app = await openDigesting('2026-03-28T08:00Z')
  await app.windfall.store.commit(() =>
    app.alerts.settings.change(app.organization.id, { digests_at: '02:30' }),
  )
  await minute(app)
  // At 02:00 the clocks go forward to 03:00, which is 01:00 UTC: 02:30 does not exist.
  await minute(app, '2026-03-29T00:59Z')
  expect(rows(app)).toEqual([])
  await minute(app, '2026-03-29T01:00Z')
  expect(rows(app)).toEqual(['daily 2026-03-29'])
  await minute(app, '2026-10-24T20:00Z')
  // 02:30 is at 00:30 and at 01:30 UTC.
  await minute(app, '2026-10-25T00:29Z')
  expect(rows(app)[0]).toBe('daily 2026-10-24 skipped')
  await minute(app, '2026-10-25T00:30Z')
  await minute(app, '2026-10-25T01:30Z')
  expect(rows(app).filter((row) => row.includes('10-25'))).toEqual(['daily 2026-10-25'])
})

test('weekly on Mondays, about Monday to Sunday', async () => {
  const app = await openDigesting('2026-06-01T06:30Z', { digests: ['weekly'] })
  for (let day = 0; day < 8; day += 1) await minute(app, Date.parse('2026-06-02T06:00Z') + day * DAY)
  expect(rows(app)).toEqual(['weekly 2026-06-08'])
  expect(titles(app)).toEqual(['🗓️ Jun 1 – 7 · $0.00'])
})

test('a channel without amounts gets none, and each channel gets its own', async () => {
  const app = await openDigesting('2026-06-01T06:30Z', { hides_amounts: true })
  await app.channel('desk', { digests: ['daily'] })
  await app.channel('other')
  await minute(app)
  await sellFiveMondays(app)
  await app.windfall.metrics.whenCurrent()
  await minute(app, '2026-06-30T06:00Z')
  expect([titles(app), titles(app, 'desk'), titles(app, 'other')]).toEqual([
    ['☀️ Mon, Jun 29 · +140%'],
    ['☀️ Mon, Jun 29 · $60.00 · +140%'],
    [],
  ])
  expect(JSON.stringify(app.got())).not.toMatch(/\$|60\.00|45\.00|13\.33/)
})

test('quiet hours hold a digest whole until their end', async () => {
  const app = await openDigesting('2026-06-01T06:30Z')
  const quiet = { from: '22:00', until: '09:00' }
  await app.windfall.store.commit(() => app.alerts.settings.change(app.organization.id, { quiet }))
  await minute(app, '2026-06-02T06:00Z')
  expect([rows(app), titles(app)]).toEqual([['daily 2026-06-02'], []])
  await app.settle(HOUR)
  expect(titles(app)).toEqual(['☀️ Mon, Jun 1 · $0.00'])
})

test('a channel begins with the next digest, also after a change of the time', async () => {
  const app = await openDigesting('2026-06-01T06:30Z', { digests: [] })
  await wanting(app, { digests: ['daily'] })
  await minute(app, '2026-06-01T06:31Z')
  const change = (digests_at: string) =>
    app.windfall.store.commit(() => app.alerts.settings.change(app.organization.id, { digests_at }))
  await change('07:00')
  await minute(app, '2026-06-01T06:40Z')
  expect(rows(app)).toEqual([])
  await minute(app, '2026-06-02T05:00Z')
  expect(rows(app)).toEqual(['daily 2026-06-02'])
  await change('09:00')
  await minute(app, '2026-06-02T07:00Z')
  expect(rows(app)).toHaveLength(1)
})

test('the preview shows the newest digest and stores nothing; a digest that does not exist is refused', async () => {
  const app = await openDigesting('2026-06-03T06:30Z')
  const preview = await get(app, 'alerts/digests/preview?kind=weekly')
  expect(preview).toMatchObject({
    digested_on: '2026-06-01',
    figures: { from_on: '2026-05-25', until_on: '2026-05-31' },
    shown: { title: '🗓️ May 25 – 31 · $0.00' },
    hidden: { title: '🗓️ May 25 – 31' },
  })
  expect(await get(app, 'alerts/digests')).toEqual({ digests: [], next: null })
  expect(await get(app, 'alerts/digests/none')).toMatchObject({ status: 404, code: 'unknown_digest' })
})

test('digests that were turned on while the clock was ahead begin when it is right', async () => {
  const app = await openDigesting('2026-06-01T06:30Z')
  app.clock.set(Date.parse('2030-01-01T10:00Z'))
  const { store } = app.windfall
  await store.commit(() => app.alerts.changeSettings(app.organization.id, { digests_at: '09:00' }))
  await minute(app, '2030-01-01T10:01Z')
  await minute(app, '2026-06-02T06:00Z')
  await minute(app, '2026-06-02T07:00Z')
  expect(titles(app)).toHaveLength(1)
})
