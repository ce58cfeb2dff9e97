/** A large backlog: however many events are behind the cursors, few rows are made and the memory stays as it is. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { openForwardingApp, openHttpReceiver } from '../../forwarding/receiving.ts'
import { isLong } from '../../random.ts'

const EVENTS = isLong ? 1_000_000 : 10_000
/** What was refused waits in a row of its own, up to this number; what was never tried waits behind the cursor. */
const MOST_ROWS = 50_000
const MOST_UNTRIED = 1_000
/** Much less than the bodies of all events, and more than what the collector leaves. */
const MOST_GROWTH_MIB = 40
const SECOND_MS = 1_000

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** The memory in use after a garbage collection, in MiB: objects and buffers. */
function usedMemory(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

test(`${EVENTS.toLocaleString('en-US')} events behind a cursor make few rows and use no memory`, {
  timeout: 600_000,
}, async () => {
  const receiver = await openHttpReceiver(({ path }, response) =>
    path === '/refusing' ? 400 : void response.destroy(),
  )
  const app = await openForwardingApp()
  const { store } = app.windfall
  const urlOf = (path: string): string => new URL(path, receiver.url).href
  await app.addEndpoint(urlOf('/dead'))
  await app.addEndpoint(urlOf('/refusing'))
  await app.addEndpoint(urlOf('/refusing'), { is_ordered: true })
  await app.addEndpoint(urlOf('/dead'), { types: ['gap.filled'] })
  await app.append(1)
  await app.settled()
  const copy = store.prepare<[number, number]>(`
    insert into events (id, organization_id, app_id, environment, type, origin, customer_id, subject, cause, body,
      occurred_at, signed_at, recorded_at)
    with recursive n(i) as (select ? union all select i + 1 from n where i < ?)
    select 'evt_' || printf('%024x', i), organization_id, app_id, environment, type, origin, customer_id, 'key-' || i,
      'copy/' || i, body, occurred_at, signed_at, recorded_at from n join (select * from events limit 1)`)
  const mostRows = store
    .prepare<[], number | null>(`
      select max(count) from (
        select count(*) as count from deliveries where state = 'waiting' group by endpoint_id)`)
    .pluck()

  const mostUntried = store
    .prepare<[], number | null>(`
      select max(count) from (
        select count(*) as count from deliveries where state = 'waiting' and attempts = 0 group by endpoint_id)`)
    .pluck()

  const before = usedMemory()
  for (let first = 1; first <= EVENTS; first += 10_000)
    await store.commit(() => copy.run(first, Math.min(first + 9_999, EVENTS)))
  await app.run(SECOND_MS)
  receiver.requests.length = 0
  const { refused, behind } = { refused: mostRows.get() ?? 0, behind: usedMemory() }
  expect(refused).toBeLessThanOrEqual(MOST_ROWS)
  expect(mostUntried.get() ?? 0).toBeLessThanOrEqual(MOST_UNTRIED)
  expect(behind - before).toBeLessThan(MOST_GROWTH_MIB)
  // The dead endpoint fails, so its events stay behind the cursor; those of another type are passed over.
  for (const { url, types, cursor } of app.windfall.forwarding.endpoints.list())
    if (new URL(url).pathname === '/dead')
      expect([url, types, cursor > EVENTS / 2]).toEqual([url, types, types !== null])
})
