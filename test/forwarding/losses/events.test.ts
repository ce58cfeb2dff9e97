import { expect, test } from 'vitest'
import { temporaryFolder } from '../../folders.ts'
import { expectErrors } from '../../guards/error_lines.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from '../receiving.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Longer than the schedule with its jitter. */
const SCHEDULE_MS = 95 * HOUR_MS

/** A Windfall with an endpoint that refuses everything, and one beside it that accepts. */
async function openBoth(folder?: string) {
  const [refusing, beside] = [await openHttpReceiver(() => 400), await openHttpReceiver()]
  const app = await openForwardingApp(folder === undefined ? {} : { folder })
  const { id } = (await app.addEndpoint(refusing.url, { name: 'backend' })).endpoint
  const other = (await app.addEndpoint(beside.url, { name: 'beside' })).endpoint.id
  return { app, refusing, beside, id, other }
}

const failures = (app: ForwardingApp) => app.feed(['delivery.failed'])
const countsOf = (app: ForwardingApp) => failures(app).map(({ data }) => data.count)

/** Turns the clock to the last attempt that waits, until all are given up: those of one time together. */
async function giveUpTogether({ windfall, clock, settled }: ForwardingApp): Promise<void> {
  const latest = windfall.store
    .prepare<[], number | null>("select max(next_at) from deliveries where state = 'waiting'")
    .pluck()
  for (let at = latest.get() ?? null; at !== null; at = latest.get() ?? null) {
    clock.set(at)
    await settled()
  }
}

test('what is given up within a minute is one event, which its own endpoint does not get', async () => {
  const { app, refusing, beside, id } = await openBoth()
  const ids = await app.append(3)
  await app.settled()
  await giveUpTogether(app)
  expect(failures(app)).toEqual([])
  await app.run(MINUTE_MS)
  const given = app.rows(id).toSorted((one, another) => (one.finished_at ?? 0) - (another.finished_at ?? 0))
  const [event] = failures(app)
  expect(failures(app)).toHaveLength(1)
  expect(event).toMatchObject({
    app_id: null,
    environment: null,
    origin: 'live',
    occurred_at: given.at(-1)?.finished_at,
    data: {
      endpoint: { id, name: 'backend' },
      count: 3,
      first_event_id: expect.toSatisfy((one: string) => ids.includes(one)),
      last_event_id: expect.toSatisfy((one: string) => ids.includes(one)),
      reason: expect.stringMatching(/^All 10 attempts failed\. The receiver answered 400\./),
    },
  })
  expect(beside.ids().toSorted()).toEqual([...ids, event?.id].toSorted())
  expect(new Set(refusing.ids())).toEqual(new Set(ids))
  await app.run(HOUR_MS)
  expect(failures(app)).toHaveLength(1)
})

test('each minute with losses has an event of its own, and together they count every loss', async () => {
  const { app, id } = await openBoth()
  for (let round = 0; round < 5; round += 1) {
    await app.append(3)
    await app.settled()
    app.clock.turn(MINUTE_MS / 2)
  }
  await app.run(SCHEDULE_MS)
  await app.run(MINUTE_MS)
  const counts = countsOf(app).map(Number)
  expect(counts.length).toBeGreaterThan(1)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(15)
  expect(app.rows(id).filter(({ state }) => state === 'failed')).toHaveLength(15)
})

test('a failed delivery of an event about endpoints makes no event', async () => {
  const { app, beside, id, other } = await openBoth()
  await app.append(1)
  await app.run(SCHEDULE_MS)
  beside.behave(() => 400)
  await app.append(1)
  await app.run(MINUTE_MS)
  expect(failures(app)).toHaveLength(1)
  await app.run(SCHEDULE_MS)
  await app.run(SCHEDULE_MS)
  const about = failures(app).map(({ data }) => (data.endpoint as { id: string }).id)
  expect(about.toSorted()).toEqual([id, id, other].toSorted())
  const failed = app.rows(other).filter(({ state }) => state === 'failed')
  expect(failed.map(({ type }) => type)).toContain('delivery.failed')
  const announced = failures(app).filter(({ data }) => (data.endpoint as { id: string }).id === other)
  expect(announced.map(({ data }) => data.count)).toEqual([1])
  expect(app.windfall.forwarding.log.healthOf(app.endpoint(other)).lost).toBe(failed.length)
})

test('after each commit every loss is announced or about to be, and a restart announces the rest', async () => {
  const folder = temporaryFolder().path
  const { app, id } = await openBoth(folder)
  const { store } = app.windfall
  const countUnannounced = store.prepare<[], { count: number | null }>(
    'select sum(count) as count from unannounced_losses',
  )
  const unannounced = () => countUnannounced.get()?.count ?? 0
  const lost = () => app.rows(id).filter(({ loss }) => loss !== null).length
  const announced = () => countsOf(app).reduce<number>((sum, count) => sum + Number(count), 0)
  const { commit } = store
  let checked = 0
  store.commit = async (work) => {
    const done = await commit(work)
    expect(announced() + unannounced()).toBe(lost())
    checked += 1
    return done
  }
  await app.append(4)
  await app.run(SCHEDULE_MS)
  await app.append(2)
  await app.settled()
  await giveUpTogether(app)
  expect(checked).toBeGreaterThan(50)
  expect([announced(), unannounced()]).toEqual([4, 2])
  await app.close()
  const second = await openForwardingApp({ folder, apps: [], clock: app.clock })
  await second.run(MINUTE_MS)
  expect(countsOf(second)).toEqual([4, 2])
  await second.run(HOUR_MS)
  expect(countsOf(second)).toEqual([4, 2])
})

test('a clock that is set back, and a dismissal or deletion meanwhile, do not keep the event', async () => {
  const { app, id } = await openBoth()
  await app.append(1)
  await app.settled()
  await giveUpTogether(app)
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.dismissLosses(id, app.clock()))
  await store.commit(() => forwarding.endpoints.remove(id))
  app.clock.turn(-HOUR_MS)
  await app.settled()
  expect(countsOf(app)).toEqual([1])
})

test('an endpoint that answers again makes endpoint.recovered, a resumed one does not', async () => {
  const { app, refusing, beside, id } = await openBoth()
  refusing.behave(() => 500)
  const ids = await app.append(5)
  await app.settled()
  const { state_since: failing_since, state } = app.endpoint(id)
  expect(state).toBe('failing')
  refusing.behave(() => 200)
  await app.run(2 * MINUTE_MS)
  const [event] = app.feed(['endpoint.recovered'])
  expect(event).toMatchObject({ data: { endpoint: { id, name: 'backend' }, failing_since } })
  expect(app.endpoint(id).state).toBe('active')
  await app.settled()
  expect(beside.ids().toSorted()).toEqual([...ids, event?.id].toSorted())
  expect(refusing.ids()).not.toContain(event?.id)
  refusing.behave(() => 500)
  await app.append(5)
  await app.settled()
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.resume(id, 'waiting'))
  refusing.behave(() => 200)
  await app.run(HOUR_MS)
  expect(app.feed(['endpoint.recovered'])).toHaveLength(1)
})

test('an endpoint of an earlier version gets the new types only if the owner chooses them', async () => {
  const { app, beside, id, other } = await openBoth()
  const { store, forwarding } = app.windfall
  await store.commit(() => void store.prepare('update endpoints set default_set = 1').run())
  await app.append(1)
  await app.run(SCHEDULE_MS)
  expect(failures(app)).toHaveLength(1)
  expect(beside.requests).toHaveLength(1)
  expect(forwarding.log.healthOf(app.endpoint(other)).waiting).toBe(0)
  await store.commit(() => forwarding.endpoints.change(other, { environment: null }))
  expect(app.endpoint(other).default_set).toBe(1)
  await store.commit(() => forwarding.endpoints.change(other, { types: null }))
  await app.settled()
  expect(beside.requests).toHaveLength(1)
  await app.append(1)
  await app.run(SCHEDULE_MS)
  expect(beside.ids().slice(2)).toEqual([failures(app)[1]?.id])
  expect(app.rows(id)).toHaveLength(2)
})

test('an error of one event does not keep those of other endpoints', async () => {
  expectErrors('the event of deliveries that were given up could not be recorded')
  const { app, id } = await openBoth()
  const third = await openHttpReceiver(() => 400)
  const last = (await app.addEndpoint(third.url, { name: 'third' })).endpoint.id
  await app.append(1)
  await app.settled()
  await giveUpTogether(app)
  const { store, stoppages } = app.windfall
  const refuse = `create trigger refuse before insert on events when new.cause glob '${id}/*' begin select raise(abort, 'refused'); end`
  await store.commit(() => void store.prepare(refuse).run())
  await app.run(MINUTE_MS)
  const about = () => failures(app).map(({ data }) => (data.endpoint as { id: string }).id)
  expect(about()).toEqual([last])
  expect(stoppages.list()).toMatchObject([{ title: 'What was given up is not announced', subject: id }])
  await store.commit(() => void store.prepare('drop trigger refuse').run())
  await app.settled()
  expect(about()).toEqual([last, id])
  expect(stoppages.list()).toEqual([])
})
