/** The examples of sdk/js/server.md compile, narrow types as they say, and run. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exampleOf } from '../../../src/forwarding/bodies/test_event.ts'
import { headersOf } from '../../../src/forwarding/sending/requests.ts'
import { newSecret } from '../../../src/forwarding/sending/signature.ts'
import { APPLE_ID } from '../../apple/samples.ts'
import { faultsIn, RUNTIMES } from './compiling.ts'
import { examples, receiving, run } from './running.ts'
import { openServed } from './serving.ts'
import { DATABASE, DECLARATIONS } from './stand_ins.ts'

const HANDLERS = ['express.ts', 'worker.ts', 'app/webhooks/windfall/route.ts']
const SECRET = newSecret()
const EVENT = exampleOf('subscription.renewed')

test('every example compiles: the worker for the edge, the others for Node', () => {
  const { 'worker.ts': worker = '', ...others } = examples()
  expect(Object.keys(others)).toHaveLength(7)
  const shared = { 'stand_ins.d.ts': DECLARATIONS }
  // Top-level await makes a module of each file.
  expect(faultsIn({ ...others, ...shared, 'database.ts': DATABASE })).toEqual([])
  expect(faultsIn({ ...shared, 'worker.ts': worker }, RUNTIMES.edge)).toEqual([])
})

/** Code that must compile, and lines that must not. */
const NARROWING = `import type {
  EventSnapshots, EventType, FeedEvent, FeedEventOf, WebhookData, WebhookEvent, WebhookEventOf,
} from 'windfall-sdk/server'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const isTrue = <_ extends true>(): void => {}

export function narrow(event: WebhookEvent, fed: FeedEvent): void {
  isTrue<Same<typeof event.type, EventType>>()
  if (event.type === 'customer.moved') {
    isTrue<Same<typeof event, WebhookEventOf<'customer.moved'>>>()
    isTrue<Same<typeof event.data, WebhookData<'customer.moved'>>>()
    isTrue<Same<typeof event.data.data, EventSnapshots['customer.moved']>>()
    isTrue<Same<typeof event.data.data.store, 'apple' | 'google'>>()
    isTrue<Same<typeof event.data.type, 'customer.moved'>>()
    // @ts-expect-error: another type has it
    event.data.data.gap_id
  }
  if (event.type === 'transaction.recorded') {
    const id: string = event.data.data.transaction.transaction_id
    // @ts-expect-error: its webhooks have no revenue
    event.data.revenue_milli ?? id
  }
  if (event.type === 'trial.started') {
    // @ts-expect-error: the notification may contain no transaction
    event.data.data.transaction.transaction_id
    isTrue<Same<typeof event.data.revenue_milli, number | null>>()
    isTrue<Same<typeof event.data.data.notification.whatever, unknown>>()
  }
  const hasAccess: boolean | undefined = event.data.subscription_now?.has_access
  // @ts-expect-error: events without a subscription have null
  event.data.subscription_now.has_access ?? hasAccess
  // @ts-expect-error: there is no such type
  if (event.type === 'subscription.renewd') return
  if (fed.type === 'gap.found') {
    isTrue<Same<typeof fed, FeedEventOf<'gap.found'>>>()
    isTrue<Same<typeof fed.data.notifications, number>>()
    isTrue<Same<typeof fed.seq, number>>()
    // @ts-expect-error: only webhooks have it
    fed.subscription_now
  }
}
`

test.each(['node', 'edge'] as const)('the type of an event narrows its data (%s)', (runtime) => {
  expect(faultsIn({ 'narrowing.ts': NARROWING }, RUNTIMES[runtime])).toEqual([])
  // An expectation that does not hold is a fault, so the expectations above are checked.
  const wrong = NARROWING.replace("'apple' | 'google'", "'apple'")
  expect(faultsIn({ 'narrowing.ts': wrong }, RUNTIMES[runtime])).toHaveLength(1)
})

type Signing = { id?: string; secrets?: string[]; age_ms?: number }

function requestOf({ id = EVENT.data.id, secrets = [SECRET], age_ms = 0 }: Signing = {}) {
  const body = JSON.stringify({ ...EVENT, data: { ...EVENT.data, id } })
  const delivery = { event_id: id, attempts: 0, replay_id: null }
  const signed = { kind: 'events', delivery, body: Buffer.from(body), secrets, ownHeaders: {} } as const
  return { body, headers: headersOf({ ...signed, now: Date.now() - age_ms }) }
}

test.each(HANDLERS)('%s stores what Windfall signs, and answers the rest with its code', async (file) => {
  const { body, headers } = requestOf()
  const requests = [
    requestOf(),
    requestOf({ secrets: [newSecret(), SECRET] }),
    requestOf({ id: 'evt_failing' }),
    requestOf({ secrets: [newSecret()] }),
    requestOf({ age_ms: 360_000 }),
    { body: body.replace('1990', '1991'), headers },
    { body, headers: {} },
  ]
  const out = await run({
    main: receiving(file, requests),
    files: examples(),
    env: { WINDFALL_WEBHOOK_SECRET: SECRET },
  })
  const stored = [{ id: EVENT.data.id, event: JSON.parse(body) }]
  const refused = (text: string) => ({ status: 401, text, stored: [] })
  expect(JSON.parse(out)).toEqual([
    { status: 204, text: '', stored },
    { status: 204, text: '', stored },
    { status: 500, text: '', stored: [] },
    refused('wrong_signature'),
    refused('timestamp_out_of_range'),
    refused('wrong_signature'),
    refused('missing_header'),
  ])
})

test.each(HANDLERS)(
  '%s without its secret answers 500, so that Windfall sends the event again',
  async (file) => {
    const main = receiving(file, [requestOf()])
    const out = await run({ main, files: examples(), env: { WINDFALL_WEBHOOK_SECRET: '' } })
    expect(JSON.parse(out)).toEqual([{ status: 500, text: 'invalid_secret', stored: [] }])
  },
)

test('the examples of calls run on a Windfall', async () => {
  const bundle_id = 'com.example.app'
  const app = await openServed({ apps: [{ bundle_id, apple_id: APPLE_ID }] })
  const files = Object.fromEntries(
    Object.entries(examples()).map(([name, code]) => [
      name,
      code.replace('https://windfall.example.com', app.url),
    ]),
  )
  const env = { WINDFALL_SECRET_KEY: await app.key('secret'), WINDFALL_READ_TOKEN: await app.token() }
  const printed = (main: string) => run({ main, files, env })
  expect(await printed("import './import_links.ts'")).toMatch(
    /^1 new, 0 of other users, 1 refused\nrow 1: invalid_request: .*app_user_id.*\n$/,
  )
  expect(await printed("import './purchases.ts'")).toMatch(
    /^The purchase belongs to user-1.\nfalse null \[\]\n$/,
  )
  await app.post('/api/sdk/v1/attribute', {
    appUserId: 'user-2',
    bundleId: bundle_id,
    originalTransactionId: '2000000123456789',
  })
  const twice =
    "import { readNewEvents } from './read_events.ts'\nawait readNewEvents()\nawait readNewEvents()"
  expect(await printed(twice)).toBe(
    `${app.feed(['customer.identified', 'customer.linked', 'customer.moved']).at(-1)?.seq} customer.moved\n`,
  )
  const restored = "import { storeEvents } from './database.ts'\nawait storeEvents([], 1e9)\n"
  expect(await printed(`${twice.replace('\n', `\n${restored}`)}`)).toMatch(/^1000000000 \n\d+ \n$/)
})

test('every link of the page leads to a file and a heading that exist', () => {
  const page = new URL('../../../sdk/js/server.md', import.meta.url)
  const anchorOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g)]
  const broken = links.filter(([, path = '', anchor]) => {
    const text = readFileSync(path === '' ? page : new URL(path, page), 'utf8')
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
    return anchor !== undefined && !headings.includes(anchor)
  })
  expect(links.length).toBeGreaterThan(15)
  expect(broken.map(([link]) => link)).toEqual([])
})

test('the tables of the page have every code of an error', () => {
  const page = readFileSync(new URL('../../../sdk/js/server.md', import.meta.url), 'utf8')
  const sources = ['webhooks', 'requests', 'client', 'events', 'links'].map((name) =>
    readFileSync(new URL(`../../../sdk/js/src/server/${name}.ts`, import.meta.url), 'utf8'),
  )
  const codes = [...sources.join().matchAll(/new (?:Webhook|Windfall)Error\(\s*'(\w+)'/g)].map(
    ([, code]) => code,
  )
  expect(new Set(codes).size).toBe(12)
  expect(codes.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([])
})
