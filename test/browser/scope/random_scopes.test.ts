/** Random scopes: a metric's page shows, draws and exports what the API answers. */
import fc from 'fast-check'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong, runs } from '../../random.ts'
import { hasChromium, launch, type Visitor, visit } from '../chromium.ts'
import { DEMO_MS, type Demo, openDemo, untilCounted } from '../demo/demo.ts'
import { figureOf, textOf } from '../figures.ts'
import { settled, show } from '../views.ts'

type Point = {
  on: string
  complete: boolean
  milli?: number | null
  count?: number | null
  ratio?: number | null
  numerator?: number | null
  denominator?: number | null
}
type Figures = Omit<Point, 'on' | 'complete'>
type Clipped = Figures & { of: string; on: string; until_on: string }
type Series = {
  part: string | null
  value: string | null
  others: number
  range: { clipped: Clipped[] }
  points: Point[]
}
type Answer = {
  metric: string
  unit: 'money' | 'count' | 'ratio'
  ratio_of: string | null
  kind: 'level' | 'flow'
  currency: string | null
  series: Series[]
  previous: { series: Series[] } | null
}
type Definition = { name: string; splits: string[]; filters: string[]; bases: string[] }

/** The card of a split draws so many values and combines the others. Its CSV has more. */
const DRAWN_VALUES = 7
const EXPORTED_VALUES = 100

const DAYS_OF_INTERVAL = { day: 1, week: 7, month: 30, fiscal_month: 30 }
const MAX_POINTS = 24
/** The demo still sells and refunds within these last days. */
const CHANGING_DAYS = 45

const choice = fc.nat()
const scopes = fc.record({
  metric: choice,
  split: fc.option(choice),
  interval: fc.constantFrom('day', 'week', 'month', 'fiscal_month'),
  points: fc.integer({ min: 1, max: MAX_POINTS }),
  back: fc.integer({ min: CHANGING_DAYS, max: 300 }),
  apps: fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
  country: fc.option(fc.constantFrom('USA', 'DEU', 'JPN'), { freq: 3 }),
  currency: fc.option(fc.constantFrom('USD', 'EUR', 'JPY'), { freq: 3 }),
  display: fc.option(fc.constantFrom('EUR', 'JPY')),
  isNet: fc.boolean(),
  isPacific: fc.boolean(),
  compare: fc.constantFrom(null, 'previous', 'year'),
})
type RandomScope = typeof scopes extends fc.Arbitrary<infer Value> ? Value : never

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

function parametersOf(values: Record<string, string | number | null>): string {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== null) all.set(name, String(value))
  return all.toString()
}

/** The address of the page, and the API's parameters of the same scope. */
function addressesOf(scope: RandomScope, metrics: readonly Definition[], appIds: readonly string[]) {
  const definition = metrics[scope.metric % metrics.length] as Definition
  const { name, splits, filters, bases } = definition
  const interval = scope.interval
  const length = scope.points * DAYS_OF_INTERVAL[interval]
  const days = { from: daysAgo(scope.back + length - 1), to: daysAgo(scope.back) }
  const split = scope.split === null ? null : (splits[scope.split % splits.length] ?? null)
  const country = filters.includes('country') && split !== 'country' ? scope.country : null
  const currency = filters.includes('currency') ? scope.currency : null
  const basis = scope.isNet && bases.includes('proceeds') ? 'proceeds' : null
  const app = scope.apps.length === 0 ? null : scope.apps.map((index) => appIds[index]).join(',')
  const common = { ...days, app, country, currency, basis, compare: scope.compare, split }
  const isPacific = scope.isPacific || interval === 'fiscal_month'
  return {
    page: `/metrics/${name}?${parametersOf({
      ...common,
      range: 'custom',
      by: interval,
      display: scope.display,
      zone: scope.isPacific ? 'pacific' : null,
      part: 'whole',
    })}`,
    path: `/api/v1/metrics/${name}`,
    query: {
      ...common,
      interval,
      display_currency: scope.display,
      zone: isPacific ? 'pacific' : null,
      part: null,
    },
  }
}

const totalsOf = (series: readonly Series[]): Series[] => {
  const totals = series.filter(({ part }) => part === null)
  return totals.length > 0 ? totals : [...series]
}
const sumOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** The series with the figures of the requested days only: those of the part where a point is not whole in them. */
const exact = (series: readonly Series[]): Series[] =>
  series.map((one) => ({
    ...one,
    points: one.points.map((point) => {
      const part = one.range.clipped.find(({ of }) => of === point.on)
      if (part === undefined) return point
      const { of: _, until_on: __, ...figures } = part
      return { ...point, ...figures }
    }),
  }))

/** The columns that a table of the answer has, oldest value first. */
function columnsOf(answer: Answer): { kind: 'total' | 'line' | 'compared'; values: (number | null)[] }[] {
  const lines = totalsOf(exact(answer.series)).map(({ points }) =>
    points.map((point) => figureOf(answer, point)),
  )
  const compared = totalsOf(exact(answer.previous?.series ?? [])).map(({ points }) =>
    points.map((point) => figureOf(answer, point)),
  )
  const together = (all: (number | null)[][]): (number | null)[] =>
    (lines[0] ?? []).map((_, index) => sumOf(all.map((values) => values[index] ?? null)))
  const isAdded = answer.unit !== 'ratio'
  return [
    ...(lines.length > 1 && isAdded ? [{ kind: 'total' as const, values: together(lines) }] : []),
    ...lines.map((values) => ({ kind: 'line' as const, values })),
    ...(compared.length === 1 || (compared.length > 1 && isAdded)
      ? [{ kind: 'compared' as const, values: together(compared) }]
      : []),
  ]
}

/** The cells of a CSV without quoted cells. */
function cellsOf(text: string): Record<string, string>[] {
  const [head = [], ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  return rows.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ''])))
}

const decimal = (milli: number | null | undefined): string =>
  milli === null || milli === undefined ? '' : (milli / 1000).toFixed(3)
const plain = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

/** The cells that a CSV of the answer has, in the same order. */
const exportedCells = (answer: Answer): Record<string, string>[] =>
  exact(answer.series).flatMap(({ part, value, others, points }) =>
    points.map((point) => {
      const isShareOfMoney = answer.ratio_of === 'money'
      const side = (amount: number | null | undefined) => (isShareOfMoney ? decimal(amount) : plain(amount))
      return {
        range: 'asked',
        on: point.on,
        value: plain(value),
        others: String(others),
        part: plain(part),
        amount: decimal(point.milli),
        currency: point.milli !== undefined || isShareOfMoney ? plain(answer.currency) : '',
        count: plain(point.count),
        ratio: plain(point.ratio),
        numerator: side(point.numerator),
        denominator: side(point.denominator),
        complete: String(point.complete),
      }
    }),
  )

/** Moves the cursor over a chart and collects what is said of each point: the values that are drawn there. */
const READ_CHART = `(async () => {
  const box = document.querySelector('.chart-box')
  if (box === null) return null
  const press = async (key) => {
    box.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
    await new Promise((resolve) => requestAnimationFrame(resolve))
    return box.parentElement.querySelector('[aria-live]').textContent
  }
  box.focus()
  const said = [await press('Home')]
  for (;;) {
    const next = await press('ArrowRight')
    if (next === said.at(-1)) return said
    said.push(next)
  }
})()`

/** The figures of a card's table, newest first. */
const TABLE_CELLS = `[...document.querySelector('.table-wrap.tall').querySelectorAll('tbody tr')]
  .map((row) => [...row.querySelectorAll('td.number')].map((cell) => cell.textContent))`

const MAX_LINES_WITH_ZEROS = 4

/** What is said of a point has each value that is drawn there, with the title of its line. */
function assertDrawn(answer: Answer, said: string[], headings: string[]): void {
  const columns = columnsOf(answer)
  const lineCount = columns.filter(({ kind }) => kind !== 'total').length
  const isLeftOut = (value: number | null): boolean =>
    value === null || (value === 0 && lineCount > MAX_LINES_WITH_ZEROS)
  const wordsOf = (index: number): string[] =>
    columns.flatMap(({ kind, values }, column) => {
      const value = values[index] ?? null
      if (kind === 'line' && isLeftOut(value)) return []
      return [`${kind === 'compared' ? '' : headings[column]} ${textOf(answer, value)}`]
    })
  expect(said).toHaveLength(columns[0]?.values.length ?? 0)
  for (const [index, words] of said.entries())
    for (const expected of wordsOf(index)) expect(words).toContain(expected)
}

describe.skipIf(!hasChromium())('random scopes', () => {
  let browser: Browser
  let demo: Demo
  let visitor: Visitor
  beforeAll(async () => {
    browser = await launch()
    demo = await openDemo(browser)
    await untilCounted(browser, demo)
    visitor = await visit(browser, demo.base, 'desktop')
    await visitor.context.addCookies(demo.cookies)
  }, DEMO_MS)
  afterAll(() => browser?.close())

  const getJson = async (path: string) => {
    const response = await visitor.context.request.get(path)
    expect([path, response.status()]).toEqual([path, 200])
    return response.json()
  }
  const getText = async (path: string) => (await visitor.context.request.get(path)).text()

  async function csvLinks(page: Page): Promise<string[]> {
    await page.getByRole('button', { name: 'Export' }).first().click()
    const links = ['CSV, one row per figure', 'CSV, one column per series'].map((name) =>
      page.getByRole('link', { name, exact: true }).first().getAttribute('href'),
    )
    const found = await Promise.all(links)
    await page.keyboard.press('Escape')
    return found.map((href) => href ?? '')
  }

  async function assertExported(page: Page, { path, query }: ReturnType<typeof addressesOf>): Promise<void> {
    const limit = query.split === null ? null : EXPORTED_VALUES
    const all = (await getJson(`${path}?${parametersOf({ ...query, compare: null, limit })}`)) as Answer
    const [long = '', wide = ''] = await csvLinks(page)
    const expected = exportedCells(all)
    const rows = cellsOf(await getText(long))
    expect(
      rows.map((row) => Object.fromEntries(Object.keys(expected[0] ?? {}).map((key) => [key, row[key]]))),
    ).toEqual(expected)
    expect(cellsOf(await getText(wide)).map(({ on }) => on)).toEqual(
      exact(all.series)[0]?.points.map(({ on }) => on) ?? [],
    )
  }

  test('tables, charts and CSV of a metric have the API’s values', {
    timeout: isLong ? 1_200_000 : 120_000,
  }, async () => {
    const { metrics } = (await getJson('/api/v1/metrics')) as { metrics: Definition[] }
    const { apps } = (await getJson('/api/v1/apps')) as { apps: { id: string }[] }
    const { page, complaints } = visitor
    const appIds = apps.map(({ id }) => id)
    await fc.assert(
      fc.asyncProperty(scopes, async (scope) => {
        const addresses = addressesOf(scope, metrics, appIds)
        const { path, query } = addresses
        const limit = query.split === null ? null : DRAWN_VALUES
        const answer = (await getJson(`${path}?${parametersOf({ ...query, limit })}`)) as Answer
        const columns = columnsOf(answer)

        await show(page, addresses.page)
        const said = await page.evaluate<string[] | null>(READ_CHART)
        await page.getByRole('button', { name: 'View as table' }).first().click()
        await settled(page)
        const table = page.locator('.table-wrap.tall').first()
        const headings = (await table.locator('thead th').allTextContents()).slice(1, columns.length + 1)
        expect(headings).toHaveLength(columns.length)
        const rows = await page.evaluate<string[][]>(TABLE_CELLS)
        expect(rows.reverse()).toEqual(
          (columns[0]?.values ?? []).map((_, index) =>
            columns.map(({ values }) => textOf(answer, values[index] ?? null)),
          ),
        )
        const isDrawn = columns.some(({ kind, values }) => kind !== 'total' && values.some((value) => value))
        expect(said !== null).toBe(isDrawn)
        if (said !== null) assertDrawn(answer, said, headings)
        await assertExported(page, addresses)
      }),
      { ...runs(20, 200), endOnFailure: true },
    )
    expect(complaints).toEqual([])
  })
})
