/** Share links that are limited to some metrics: every route, asked for every other metric. */
import { beforeAll, expect, test } from 'vitest'
import { DEFINITIONS, METRIC_NAMES, type MetricName } from '../../../src/metrics/definitions/definitions.ts'
import {
  DERIVATIONS,
  derivableFrom,
  SHARED_METRICS,
  type SharedMetric,
} from '../../../src/metrics/definitions/derivable.ts'
import type { Basis } from '../../../src/money.ts'
import { openSimulated, type Simulated } from '../../metrics/oracle/simulated.ts'
import { nonEmpty } from '../../non_empty.ts'
import { isLong, seed } from '../../random.ts'

const SAME_SITE = { 'sec-fetch-site': 'same-origin' }
const COHORTS = SHARED_METRICS.filter((name) => !(name in DEFINITIONS))
type Headers = Record<string, string>

let played: Simulated
let owner: Headers
beforeAll(async () => {
  played = await openSimulated({ seed: seed + 9, subscribers: 120, edgeCases: true, days: 200 })
  owner = await played.app.signIn()
}, 120_000)

const share = (metrics: readonly string[] | null, basis: Basis = 'gross') =>
  played.app.post('/api/v1/share-links', { label: 'For the bank', basis, metrics }, owner)

async function guestOf(metrics: readonly string[] | null, basis: Basis = 'gross'): Promise<Headers> {
  const { body } = await share(metrics, basis)
  const token = String(body.url).split('#')[1]
  const { headers } = await played.app.post('/api/v1/share/open', { token, passcode: null }, SAME_SITE)
  return { ...SAME_SITE, cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

async function ask(path: string, headers: Headers) {
  const response = await played.app.request(path, { headers })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : null
  return { status: response.status, text, json, code: response.ok ? null : json?.code }
}

/** Every form in which a series is asked for. */
function seriesPaths(name: MetricName): string[] {
  const { splits, views, parts, has_refund_days } = DEFINITIONS[name]
  const view = views.length === 0 ? '' : `&view=${views.at(-1)?.name}`
  const queries = [
    '',
    'interval=month',
    'compare=previous',
    'compare=year',
    'display_currency=EUR',
    ...splits.map((split) => `split=${split}`),
    ...splits.map((split) => `split=${split}&find=a&limit=1`),
    ...views.map((view) => `view=${view.name}`),
    ...parts.slice(0, 1).map((part) => `part=${part.name}${view}`),
    ...(has_refund_days ? ['refunds=purchase_day'] : []),
  ]
  return [
    ...queries.map((query) => `/api/v1/metrics/${name}?${query}`),
    `/api/v1/metrics/${name}.csv`,
    `/api/v1/metrics/${name}.csv?layout=wide&compare=previous`,
  ]
}

const cohortPaths = (name: string): string[] =>
  ['', '&by=week', '&display_currency=EUR'].flatMap((query) =>
    ['cohorts', 'cohorts.csv'].map((path) => `/api/v1/${path}?metric=${name}${query}`),
  )

const pathsOf = (name: SharedMetric): string[] =>
  name in DEFINITIONS ? seriesPaths(name as MetricName) : cohortPaths(name)

/**
 * Which forms of another metric the guest of a link asks for by themselves: in the short form every third, so that ten
 * guests ask for each. In a batch each asks for the first 25.
 */
const isAskedBy = (shared: SharedMetric) => (_: string, index: number) =>
  isLong || index % 3 === SHARED_METRICS.indexOf(shared) % 3

/** The codes of the answers when paths are asked for in one batch. */
async function codesInBatch(paths: readonly string[], headers: Headers): Promise<unknown[]> {
  const reads = paths.slice(0, 25)
  const get = reads.map((path) => path.slice('/api/v1/'.length)).join(' ')
  const { json } = await ask(`/api/v1/batch?${new URLSearchParams({ get })}`, headers)
  const { answers } = json as { answers: { body: { code?: string } }[] }
  expect(answers).toHaveLength(reads.length)
  return [...new Set(answers.map(({ body }) => body.code))]
}

test.each(SHARED_METRICS.map((name) => [name]))(
  'a link for %s alone answers for it and refuses every other metric, however it is asked for',
  async (shared) => {
    const guest = await guestOf([shared])
    for (const path of pathsOf(shared)) {
      expect([path, (await ask(path, guest)).code]).toEqual([path, null])
    }
    for (const other of nonEmpty(SHARED_METRICS.filter((name) => name !== shared))) {
      for (const path of nonEmpty(pathsOf(other).filter(isAskedBy(shared))))
        expect([path, (await ask(path, guest)).code]).toEqual([path, 'metric_not_shared'])
      expect(await codesInBatch(pathsOf(other), guest)).toEqual(['metric_not_shared'])
    }
  },
  60_000,
)

/** The numbers in an answer that identify a figure: amounts, exact ratios, and counts that no small sample shares. */
function figuresIn(text: string): Set<string> {
  const numbers = text.match(/(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])/g) ?? []
  return new Set(numbers.map((one) => String(Math.abs(Number(one)))).filter((one) => Number(one) >= 60))
}

/** The figures that the owner gets for each metric, read once. */
const ownersFigures = new Map<SharedMetric, Set<string>>()
async function figuresOfOne(name: SharedMetric): Promise<Set<string>> {
  const figures = ownersFigures.get(name) ?? new Set()
  if (!ownersFigures.has(name))
    for (const path of pathsOf(name))
      for (const figure of figuresIn((await ask(path, owner)).text)) figures.add(figure)
  ownersFigures.set(name, figures)
  return figures
}

/** The figures that the owner gets for metrics, each with one metric that has it. */
async function figuresOf(names: readonly SharedMetric[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const name of names) for (const figure of await figuresOfOne(name)) found.set(figure, name)
  return found
}

/** All GET routes of the server, with every metric in the places that name one. */
function allPaths(): string[] {
  const routes = played.app.windfall.http.routes().filter(({ method }) => method === 'GET')
  return nonEmpty(routes).flatMap(({ path }) => {
    if (path === '/api/v1/metrics/:name') return METRIC_NAMES.map((name) => path.replace(':name', name))
    if (path.startsWith('/api/v1/cohorts')) return COHORTS.map((name) => `${path}?metric=${name}`)
    return [path.replace(/:\w+/g, 'x')]
  })
}

test.each([[['mrr']], [['churn_rate']], [['revenue']], [['trial_conversion', 'downloads']], [['ltv']]] as [
  SharedMetric[],
][])(
  'no GET route gives a guest with a link for %j a figure that neither these metrics nor what follows from them has',
  async (shared) => {
    const guest = await guestOf(shared)
    const followed = derivableFrom(shared).flatMap(({ gives }) => gives ?? [])
    const known = [...shared, ...followed]
    const allowed = await figuresOf(known)
    const all = await figuresOf(SHARED_METRICS.filter((name) => !known.includes(name)))
    const hidden = new Map([...all].filter(([figure]) => !allowed.has(figure)))
    expect(hidden.size).toBeGreaterThan(100)
    const answered: string[] = []
    for (const path of allPaths()) {
      const { status, text } = await ask(path, guest)
      const isPublic = (await ask(path, {})).status === 200
      if (status !== 200 || isPublic) continue
      answered.push(path)
      const leaked = [...figuresIn(text)].filter((figure) => hidden.has(figure))
      expect([path, leaked.map((figure) => `${figure} of ${hidden.get(figure)}`)]).toEqual([path, []])
    }
    const own = (name: string) =>
      name in DEFINITIONS
        ? [`/api/v1/metrics/${name}`]
        : [`/api/v1/cohorts?metric=${name}`, `/api/v1/cohorts.csv?metric=${name}`]
    expect(answered.sort()).toEqual(
      [
        '/api/v1/apps',
        '/api/v1/apps.csv',
        '/api/v1/metrics',
        '/api/v1/metrics.csv',
        '/api/v1/overview',
        '/api/v1/overview.csv',
        ...shared.flatMap(own),
      ].sort(),
    )
  },
  60_000,
)

type Figures = { organizations: { figures: { metric: string; now: Record<string, unknown> }[] }[] }

test('the overview and the definitions of a limited link have its metrics only', async () => {
  const guest = await guestOf(['mrr', 'churn_rate', 'retention'])
  const figures = async (headers: Headers) =>
    ((await ask('/api/v1/overview', headers)).json as Figures).organizations.flatMap((one) => one.figures)
  const shown = await figures(guest)
  expect([...new Set(shown.map(({ metric }) => metric))]).toEqual(['mrr', 'churn_rate'])
  const all = (await figures(owner)).filter(({ metric }) => ['mrr', 'churn_rate'].includes(metric))
  expect(shown.map(({ now }) => now.milli ?? now.ratio ?? now.count)).toEqual(
    all.map(({ now }) => now.milli ?? now.ratio ?? now.count),
  )
  const csv = (await ask('/api/v1/overview.csv', guest)).text.trimEnd().split('\r\n').slice(1)
  expect([...new Set(csv.map((line) => line.split(',')[1]))]).toEqual(['mrr', 'churn_rate'])
  const { metrics, cohorts, customers, coverage } = (await ask('/api/v1/metrics', guest)).json as Record<
    string,
    { name: string }[]
  >
  expect([metrics, cohorts].map((some) => some?.map(({ name }) => name))).toEqual([
    ['mrr', 'churn_rate'],
    ['retention'],
  ])
  expect([customers, coverage]).toEqual([[], []])
  const session = (await ask('/api/v1/session', guest)).json
  expect(session).toMatchObject({ state: 'guest', metrics: ['mrr', 'churn_rate', 'retention'] })
})

/** Every figure in an answer: the objects that have an amount or a count, wherever they are. */
function figuresWithin(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'milli' in value || 'count' in value ? [value as Record<string, unknown>] : []
  return [...own, ...Object.values(value).flatMap(figuresWithin)]
}

test('amounts of a limited link have no counts beside them, because these are another metric', async () => {
  const figures = async (path: string, headers: Headers) => figuresWithin((await ask(path, headers)).json)
  const guest = await guestOf(['mrr', 'revenue', 'active_subscriptions'])
  // A week is clipped at both ends of these days.
  const { today_on } = (await ask('/api/v1/metrics/mrr', owner)).json as { today_on: string }
  const from = new Date(Date.parse(today_on) - 45 * 86_400_000).toISOString().slice(0, 10)
  const clipped = `from=${from}&interval=week&compare=previous`
  for (const path of [
    '/api/v1/metrics/mrr',
    '/api/v1/metrics/revenue?split=product',
    `/api/v1/metrics/mrr?${clipped}`,
    `/api/v1/metrics/revenue?split=product&${clipped}`,
  ]) {
    const [shown, all] = [await figures(path, guest), await figures(path, owner)]
    expect(all.some(({ count }) => typeof count === 'number')).toBe(true)
    const amounts = shown.filter(({ milli }) => milli !== undefined)
    expect([path, nonEmpty(amounts).filter(({ count }) => count !== undefined)]).toEqual([path, []])
    expect(shown.map(({ milli }) => milli)).toEqual(all.map(({ milli }) => milli))
  }
  const [head = '', ...rows] = (await ask(`/api/v1/metrics/mrr.csv?${clipped}`, guest)).text
    .trimEnd()
    .split('\r\n')
  const column = head.split(',').indexOf('count')
  expect(nonEmpty(rows).filter((row) => row.split(',')[column] !== '')).toEqual([])
  const counted = await figures('/api/v1/metrics/active_subscriptions', guest)
  expect(nonEmpty(counted).every(({ count }) => count !== undefined)).toBe(true)
})

test('a link without a limit shows every metric, and says so', async () => {
  const made = await share(null)
  expect(made.body).toMatchObject({ metrics: null, derivable: [] })
  const guest = await guestOf(null)
  for (const name of METRIC_NAMES)
    expect([name, (await ask(`/api/v1/metrics/${name}`, guest)).status]).toEqual([name, 200])
  expect((await ask('/api/v1/session', guest)).json).toMatchObject({ metrics: null })
})

test('what follows from the metrics of a link is named before and when it is created', async () => {
  const asked = await ask('/api/v1/share-links/derivable?metrics=active_subscriptions,mrr', owner)
  const derivable = [
    { metric: 'arr', title: 'ARR', from: ['mrr'], formula: 'MRR × 12' },
    { metric: 'net_new_mrr', title: 'Net new MRR', from: ['mrr'] },
    { metric: null, title: 'MRR per subscription', from: ['mrr', 'active_subscriptions'] },
  ]
  expect(asked).toMatchObject({ status: 200, json: { derivable } })
  const made = await share(['active_subscriptions', 'mrr', 'mrr'])
  expect(made).toMatchObject({ status: 201, body: { metrics: ['mrr', 'active_subscriptions'], derivable } })
  const listed = (await ask('/api/v1/share-links', owner)).json
  expect(listed).toMatchObject({
    share_links: expect.arrayContaining([
      expect.objectContaining({ metrics: ['mrr', 'active_subscriptions'] }),
    ]),
  })
  expect(played.app.windfall.audit.list(null, 1)).toMatchObject([
    { action: 'link.made', detail: 'For the bank (mrr, active_subscriptions)' },
  ])
})

test('without metrics, every step from metrics to a figure is listed', async () => {
  const all = (await ask('/api/v1/share-links/derivable', owner)).json?.derivable as { metric: string }[]
  expect(all).toHaveLength(DERIVATIONS.length)
  expect(all[0]).toEqual({ metric: 'arr', title: 'ARR', from: ['mrr'], formula: 'MRR × 12' })
})

test('only the owner asks what follows', async () => {
  const path = '/api/v1/share-links/derivable?metrics=mrr'
  expect(await ask(path, await guestOf(['mrr']))).toMatchObject({ status: 403, code: 'not_for_guests' })
  expect(await ask(path, {})).toMatchObject({ status: 401, code: 'sign_in_required' })
})

test.each([
  [['mrr', 'profit'], 'gross', 'metrics: there is no metric profit; GET /api/v1/metrics lists them'],
  [[], 'gross', 'metrics: must name at least one'],
  [
    ['mrr_at_risk'],
    'proceeds',
    'metrics: mrr_at_risk is known only before tax and commission; use basis gross',
  ],
  [Array(101).fill('mrr'), 'gross', 'metrics: must name at most 100'],
] as [string[], Basis, string][])('a link is not created for %j in %s', async (metrics, basis, detail) => {
  const before = played.app.windfall.links.list().length
  const refused = await share(metrics, basis)
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', detail } })
  expect(played.app.windfall.links.list()).toHaveLength(before)
  const asked = await ask(`/api/v1/share-links/derivable?metrics=${metrics}&basis=${basis}`, owner)
  expect(asked.status).toBe(detail.includes('must name') ? 200 : 400)
})
