import { copyFileSync, mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fill } from '../../src/demo/fill.ts'
import { openSimulation } from '../../src/demo/simulation.ts'
import { restore } from '../../src/store/restore.ts'
import { BUNDLE } from '../apple/samples.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../helpers.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)

/** Reads that are not covered by walking the routes without parameters. */
const FURTHER = [
  '/api/v1/metrics/mrr?from=2026-04-01&to=2026-05-31&split=product',
  '/api/v1/metrics/revenue.csv?from=2026-04-01&to=2026-05-31&interval=week',
  '/api/v1/customers?limit=100&sort=ltv',
  '/api/v1/events?limit=1000',
]
/** What tells of this process, or of now. */
const OF_NOW = new Set(['/api/v1/status', '/api/v1/events/stream', '/api/v1/jobs', '/readyz', '/healthz'])

async function answersOf(app: TestApp, token: string): Promise<Record<string, string>> {
  const paths = app.windfall.http
    .routes()
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/api/v1') && !path.includes(':'))
    .map(({ path }) => path)
    .filter((path) => !OF_NOW.has(path))
  const answers: Record<string, string> = {}
  for (const path of [...paths, ...FURTHER]) {
    const answer = await app.request(path, { headers: { authorization: `Bearer ${token}` } })
    answers[path] = `${answer.status} ${await answer.text()}`
  }
  return answers
}

test('restored elsewhere, every read answers the same', async () => {
  const authority = await sharedAuthority()
  const from = UNTIL - 90 * DAY
  const simulation = openSimulation({ seed: 9, from, until: UNTIL, subscribers: 15, odd: true, authority })
  const clock = handClock(from)
  const app = await openTestApp({ clock, apps: simulation.apps.map(({ bundle_id }) => ({ bundle_id })) })
  await fill(app.windfall, simulation.steps(), clock, () => {})
  clock.set(UNTIL)
  const { metrics, cohorts, customers, backups } = app.windfall
  const token = await app.token()
  await metrics.ripen()
  await cohorts.settle()
  await customers.settle()
  const { path: folder } = temporaryFolder()
  await backups.backup(`${folder}/backup.tar`, null)
  const before = await answersOf(app, token)
  await app.close()
  await restore({ backup: `${folder}/backup.tar`, key: null, database: null, folder })
  const restored = await openTestApp({ clock, folder, apps: [] })
  expect(await answersOf(restored, token)).toEqual(before)
  expect(Object.values(before).filter((answer) => answer.startsWith('200')).length).toBeGreaterThan(10)
  await restored.close()
})

const claim = (app: TestApp, appUserId: string) =>
  app.post('/api/sdk/v1/attribute', {
    appUserId,
    bundleId: BUNDLE,
    originalTransactionId: '2000000000000001',
  })

test.each(['in its place', 'on another machine'])(
  'restored %s, no number of an event or of a link is used again',
  async (where) => {
    const { path: folder } = temporaryFolder()
    const app = await openTestApp({ folder })
    await claim(app, 'first')
    await app.windfall.backups.backup(`${folder}/backup.tar`, null)
    // What a receiver hears of, and what the restore loses.
    await claim(app, 'lost')
    await claim(app, 'first')
    const heard = app.feed()
    await app.close()
    const { path: other } = temporaryFolder()
    copyFileSync(`${folder}/backup.tar`, `${other}/backup.tar`)
    const home = where === 'in its place' ? folder : other
    await restore({ backup: `${home}/backup.tar`, key: null, database: null, folder: home })
    const restored = await openTestApp({ folder: home, apps: [] })
    const before = restored.feed().length
    expect((await claim(restored, 'second')).body).toMatchObject({ moved: true })
    await restored.post('/api/sdk/v1/attribute', {
      ...{ appUserId: 'third', bundleId: BUNDLE },
      originalTransactionId: '2000000000000002',
    })
    const since = restored.feed().slice(before)
    expect(since.map(({ type }) => type)).toEqual(['customer.moved', 'customer.linked'])
    const known = new Set(heard.map(({ id }) => id))
    expect(since.filter(({ id }) => known.has(id))).toEqual([])
    expect(Math.min(...since.map(({ seq }) => seq))).toBeGreaterThan(Math.max(...heard.map(({ seq }) => seq)))
    await restored.close()
  },
)

test('a fresh database in the way is not taken for the one that was lost', async () => {
  const { path: folder } = temporaryFolder()
  const app = await openTestApp({ folder })
  await claim(app, 'first')
  await app.windfall.backups.backup(`${folder}/backup.tar`, null)
  await app.close()
  const { path: fresh } = temporaryFolder()
  mkdirSync(`${fresh}/data`)
  await (await openTestApp({ folder: fresh })).close()
  await restore({ backup: `${folder}/backup.tar`, key: null, database: null, folder: fresh })
  const restored = await openTestApp({ folder: fresh, apps: [] })
  await claim(restored, 'second')
  expect(restored.feed().at(-1)?.seq).toBeGreaterThan(1_000_000)
  await restored.close()
})
