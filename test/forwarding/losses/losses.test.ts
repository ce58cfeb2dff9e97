import { expect, test } from 'vitest'
import { openRandom } from '../../../src/demo/world/random.ts'
import { temporaryFolder } from '../../folders.ts'
import { isLong, seed } from '../../random.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from '../receiving.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Longer than the schedule with its jitter. */
const SCHEDULE_MS = 95 * HOUR_MS

/** A Windfall with a receiver that refuses events until `behave` is called again, and endpoint `backend`. */
async function openRefusing(settings: object = {}) {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { name: 'backend', ...settings })).endpoint
  const lost = () => app.windfall.forwarding.log.healthOf(app.endpoint(id)).lost
  const dismiss = (until_at = app.clock()) =>
    app.windfall.store.commit(() => app.windfall.forwarding.dismissLosses(id, until_at))
  return { app, receiver, id, lost, dismiss }
}

const lossesOf = (app: ForwardingApp, id: string) => app.rows(id).map(({ loss }) => loss)
const texts = (app: ForwardingApp) => app.windfall.forwarding.findings().map(({ text }) => text)

test('what is given up is counted and reported until a replay has sent it', async () => {
  const { app, receiver, id, lost } = await openRefusing()
  await app.append(3)
  await app.run(HOUR_MS)
  expect(lost()).toBe(0)
  await app.run(SCHEDULE_MS)
  const { forwarding } = app.windfall
  const times = app.rows(id).map(({ finished_at }) => finished_at ?? 0)
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const health = { lost: 3, first_lost_at: first, last_lost_at: last }
  expect(forwarding.log.healthOf(app.endpoint(id))).toMatchObject(health)
  const since = new Date(first).toISOString().slice(0, 16).replace('T', ' ')
  expect(forwarding.findings()).toMatchObject([
    {
      state: 'warning',
      text: `3 deliveries to backend were given up since ${since}Z.`,
      details: {
        id: `webhooks:${id}:lost`,
        since: first,
        remedy: expect.stringContaining('windfall webhooks replay backend --failed'),
        action: { href: `/settings/webhooks/${id}` },
      },
    },
  ])
  receiver.behave(() => 200)
  await app.replay(id, { failed: true })
  await app.settled()
  expect(lost()).toBe(0)
  expect(forwarding.findings()).toEqual([])
})

test('what a replay gives up again is lost once', async () => {
  const { app, id, lost } = await openRefusing()
  await app.append(1)
  await app.run(SCHEDULE_MS)
  await app.replay(id, { failed: true })
  await app.settled()
  expect(lossesOf(app, id)).toEqual(['queued', null])
  expect([lost(), texts(app)]).toEqual([0, []])
  await app.run(SCHEDULE_MS)
  expect(lossesOf(app, id)).toEqual([null, 'open'])
  expect(texts(app)).toEqual([expect.stringMatching(/^1 delivery to backend was given up at /)])
})

test('what a stopped replay did not send is lost again, and also after a resume from now', async () => {
  const { app, id, lost } = await openRefusing()
  await app.append(2)
  await app.run(SCHEDULE_MS)
  const { store, forwarding } = app.windfall
  const replay = await app.replay(id, { failed: true })
  await app.settled()
  expect(lost()).toBe(0)
  await store.commit(() => forwarding.replays.stop(replay.id))
  expect(lost()).toBe(2)
  await app.replay(id, { failed: true })
  await app.settled()
  expect(lost()).toBe(0)
  await store.commit(() => forwarding.endpoints.pause(id))
  await store.commit(() => forwarding.endpoints.resume(id, 'now'))
  expect(lost()).toBe(2)
})

test('what is dismissed is not reported, and a replay of all that failed leaves it out', async () => {
  const { app, receiver, id, lost, dismiss } = await openRefusing()
  const [first] = await app.append(1)
  await app.run(SCHEDULE_MS)
  const seen_at = app.clock()
  await app.append(1)
  await app.run(SCHEDULE_MS)
  expect(await dismiss(seen_at)).toBe(1)
  expect(lossesOf(app, id)).toEqual(['dismissed', 'open'])
  receiver.behave(() => 200)
  const sent = receiver.requests.length
  await app.replay(id, { failed: true })
  await app.settled()
  expect(receiver.ids().slice(sent)).not.toContain(first)
  expect(receiver.requests).toHaveLength(sent + 1)
  expect([lost(), await dismiss()]).toEqual([0, 0])
  await app.replay(id, { delivery_id: app.rows(id)[0]?.id ?? 0 })
  await app.settled()
  expect(receiver.ids().at(-1)).toBe(first)
})

test('what the receiver aborts is no loss', async () => {
  const { app, receiver, id, lost } = await openRefusing()
  receiver.behave((_, response) => {
    response.writeHead(400, { 'webhook-delivery': 'abort-message' }).end()
    return undefined
  })
  await app.append(1)
  await app.run(HOUR_MS)
  expect(app.rows(id)).toMatchObject([{ state: 'failed', loss: null }])
  expect([lost(), texts(app), app.feed(['delivery.failed'])]).toEqual([0, [], []])
})

test('a test event, and what a filter drops, is no loss', async () => {
  const { app, id, lost } = await openRefusing()
  await app.windfall.forwarding.test.send(app.endpoint(id), 'gap.found')
  await app.append(1)
  await app.settled()
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.change(id, { types: ['gap.filled'] }))
  await app.run(HOUR_MS)
  expect(app.rows(id).map(({ state }) => state)).toEqual(['failed', 'dropped'])
  expect(lost()).toBe(0)
})

test('an event that is dismissed while a replay sends it is no loss unless the replay gives it up', async () => {
  const { app, id, lost, dismiss } = await openRefusing()
  await app.append(1)
  await app.run(SCHEDULE_MS)
  await app.replay(id, { failed: true })
  await app.settled()
  expect(await dismiss()).toBe(0)
  expect(lost()).toBe(0)
  await app.run(SCHEDULE_MS)
  expect(lost()).toBe(1)
})

test('losses survive a restart, and end when deliveries are no longer kept', async () => {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver(() => 400)
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint(receiver.url)).endpoint
  await first.append(2)
  await first.run(SCHEDULE_MS)
  await first.close()
  const second = await openForwardingApp({ folder, apps: [], clock: first.clock })
  const { log, expire } = second.windfall.forwarding
  expect(log.healthOf(second.endpoint(id)).lost).toBe(2)
  second.clock.turn(91 * DAY_MS)
  await expire(512)
  expect(log.healthOf(second.endpoint(id)).lost).toBe(0)
})

type Step = readonly [name: string, run: () => Promise<unknown>]

/** The deliveries that count as lost, from their states alone. */
const expectedLosses = (app: ForwardingApp, id: string, dismissed: ReadonlySet<number>): number[] => {
  const rows = app.rows(id)
  const isLater = (at: number) => (row: (typeof rows)[number], index: number) =>
    index > at &&
    row.event_id === rows[at]?.event_id &&
    ['waiting', 'delivered', 'failed'].includes(row.state)
  return rows.flatMap((row, at) =>
    row.state === 'failed' && !dismissed.has(row.id) && !rows.some(isLater(at)) ? [row.id] : [],
  )
}

test(`any history counts what its deliveries say (seed ${seed})`, { timeout: 120_000 }, async () => {
  for (let round = 0; round < (isLong ? 40 : 4); round += 1) {
    const { pick, chance } = openRandom(`losses/${seed}/${round}`)
    const { app, receiver, id, lost, dismiss } = await openRefusing({ is_ordered: chance(0.5) })
    const { store, forwarding } = app.windfall
    const dismissed = new Set<number>()
    const swallow = () => null
    const steps: Step[] = [
      ['append', () => app.append(pick([1, 2, 3]), { subject: pick(['one', 'two']) })],
      ['run on', () => app.run(pick([0, HOUR_MS, DAY_MS, SCHEDULE_MS, SCHEDULE_MS]))],
      ['refuse', async () => receiver.behave(() => 400)],
      ['accept', async () => receiver.behave(() => 200)],
      ['accept some', async () => receiver.behave(({ index }) => (index % 3 === 0 ? 400 : 200))],
      ['replay what failed', () => app.replay(id, { failed: true })],
      ['replay everything', () => app.replay(id)],
      ['replay one', () => app.replay(id, { delivery_id: pick([1, 2, 3, 4]) }).catch(swallow)],
      [
        'stop a replay',
        () =>
          store.commit(() => {
            const [newest] = forwarding.replays.list(id)
            if (newest) forwarding.replays.stop(newest.id)
          }),
      ],
      [
        'dismiss',
        async () => {
          const open = expectedLosses(app, id, dismissed)
          expect(await dismiss()).toBe(open.length)
          for (const one of open) dismissed.add(one)
        },
      ],
      ['pause', () => store.commit(() => forwarding.endpoints.pause(id))],
      [
        'resume',
        () =>
          store.commit(() => void forwarding.endpoints.resume(id, pick(['waiting', 'now']))).catch(swallow),
      ],
    ]
    const history: string[] = []
    for (let step = 0; step < 25; step += 1) {
      const [name, run] = pick(steps)
      history.push(name)
      await run()
      await app.settled()
      expect(lost(), history.join(', ')).toBe(expectedLosses(app, id, dismissed).length)
    }
    await app.close()
  }
})
