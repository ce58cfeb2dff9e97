/** The kit imports links from rows and CSV in requests that the server takes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recordsOf } from '../../../sdk/js/src/server/csv.ts'
import { type Fetch, type LinkRow, WindfallError } from '../../../sdk/js/src/server/server.ts'
import { openCsvParser } from '../../../src/cli/links/csv_reader.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { runs } from '../../random.ts'
import { openServed } from './serving.ts'

const rowOf = (number: number): LinkRow => ({
  app: BUNDLE,
  appUserId: `user-${number}`,
  originalTransactionId: String(2_000_000_000_000_000 + number),
})
const rows = (count: number): LinkRow[] => Array.from({ length: count }, (_, number) => rowOf(number))

/** `fetch` with the size of each request. */
function counted() {
  const sizes: { rows: number; bytes: number }[] = []
  const counting: Fetch = (url, init) => {
    const body = init.body ?? ''
    sizes.push({ rows: JSON.parse(body).links.length, bytes: Buffer.byteLength(body) })
    return fetch(url, init)
  }
  return { sizes, fetch: counting }
}

const NOTHING = { linked: 0, moved: 0, unchanged: 0, refused: 0, faults: [] }

test('rows are counted, imported and unchanged the second time, in requests of at most 1,000', async () => {
  const app = await openServed()
  const { sizes, fetch } = counted()
  const client = app.clientOf({ fetch })
  const links = () => app.windfall.store.prepare('select * from links').all().length
  expect(await client.importLinks({ rows: rows(2_500), dryRun: true })).toEqual({
    ...NOTHING,
    dry_run: true,
    linked: 2_500,
  })
  expect(links()).toBe(0)
  expect(await client.importLinks({ rows: rows(2_500) })).toEqual({
    ...NOTHING,
    dry_run: false,
    linked: 2_500,
  })
  expect(links()).toBe(2_500)
  expect(await client.importLinks({ rows: rows(2_500) })).toMatchObject({ linked: 0, unchanged: 2_500 })
  expect(sizes.map(({ rows }) => rows)).toEqual([1_000, 1_000, 500, 1_000, 1_000, 500, 1_000, 1_000, 500])
})

test('rows in a script of three bytes a character are sent in requests that the server takes', async () => {
  const app = await openServed()
  const { sizes, fetch } = counted()
  const wide = rows(480).map((row) => ({ ...row, attributes: { city: '京'.repeat(1_000) } }))
  const outcome = await app.clientOf({ fetch }).importLinks({ rows: wide })
  expect(outcome).toMatchObject({ linked: 480, faults: [] })
  expect(Math.max(...sizes.map(({ bytes }) => bytes))).toBeLessThan(1_048_576)
})

test('rows can come from a cursor, and a fault has the number of its row', async () => {
  const app = await openServed()
  async function* cursor(): AsyncGenerator<LinkRow> {
    for (const row of rows(1_203)) yield row.appUserId === 'user-1101' ? { ...row, appUserId: 'null' } : row
    yield { appUserId: 'user-1', originalTransactionId: '2000000000000001' }
    yield { ...rowOf(9), app: 'com.example.other' }
  }
  const outcome = await app.clientOf().importLinks({ rows: cursor(), app: BUNDLE })
  expect(outcome).toMatchObject({ linked: 1_202, unchanged: 1, refused: 2 })
  expect(outcome.faults).toEqual([
    { row: 1_101, code: 'invalid_request', message: expect.stringContaining('app_user_id') },
    { row: 1_204, code: 'unknown_app', message: expect.any(String) },
  ])
  expect(await app.clientOf().importLinks({ rows: [] })).toEqual({ ...NOTHING, dry_run: false })
})

test('rows with many attributes are sent in requests below the limit of the server', async () => {
  const app = await openServed()
  const { sizes, fetch } = counted()
  const attributes = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key_${n}`, 'é'.repeat(400)]))
  const outcome = await app
    .clientOf({ fetch })
    .importLinks({ rows: rows(30).map((row) => ({ ...row, attributes })) })
  expect(outcome).toMatchObject({ linked: 30, refused: 0 })
  expect(Math.max(...sizes.map(({ bytes }) => bytes))).toBeLessThan(1_048_576)
  expect(sizes.length).toBeGreaterThan(2)
})

test('a CSV text as the documents show it is imported, and a fault has its line', async () => {
  const app = await openServed()
  const csv = `\uFEFFapp,app_user_id,original_transaction_id,attributes
${BUNDLE},user-1,2000000123456789,"{""plan"":""pro"",
""team"":""a,b""}"
${BUNDLE},user-2,2000000123456790,

${BUNDLE},user-3,no,
${BUNDLE},user-4,2000000123456791,{not json
`
  const outcome = await app.clientOf().importLinks({ csv })
  expect(outcome).toMatchObject({ linked: 2, refused: 2 })
  expect(outcome.faults.map(({ row, line }) => [row, line])).toEqual([
    [2, 6],
    [3, 7],
  ])
  const { windfall } = app
  const [app_id = ''] = windfall.apps.list().map(({ id }) => id)
  expect(windfall.attribution.users.get(app_id, 'user-1')).toMatchObject({
    proved_attributes: expect.anything(),
  })
  const semicolons = 'app_user_id;original_transaction_id\r\nuser-9;2000000123456799\r\n'
  expect(await app.clientOf().importLinks({ csv: semicolons, app: BUNDLE })).toMatchObject({ linked: 1 })
  const columns = 'app_user_id,original_transaction_id\n'
  for (const [wrong, detail] of [
    ['', 'empty'],
    ['app,user\n1,2\n', 'the columns'],
    [`${columns}"user-1,2000000123456789\n`, 'line 2: a quote is not closed'],
    [`${columns}a,user-1,2000000123456789\n`, 'line 2: the row has 3 cells'],
  ])
    expect(
      await app
        .clientOf()
        .importLinks({ csv: wrong ?? '' })
        .catch((thrown) => thrown),
    ).toMatchObject({ code: 'invalid_argument', detail: expect.stringContaining(detail ?? '') })
})

test('an import that fails between two requests can be repeated', async () => {
  const app = await openServed()
  let requests = 0
  const failing: Fetch = (url, init) => {
    requests += 1
    if (requests === 2) throw new TypeError('the network is down')
    return fetch(url, init)
  }
  const client = app.clientOf({ fetch: failing })
  const error = await client.importLinks({ rows: rows(2_000) }).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(WindfallError)
  expect(error.code).toBe('unreachable')
  expect(await client.importLinks({ rows: rows(2_000) })).toMatchObject({ linked: 1_000, unchanged: 1_000 })
})

/** The records, or the line of a quote that is not closed. */
function outcomeOf(read: () => object[]): object[] | string | undefined {
  try {
    return read()
  } catch (error) {
    return /line \d+: a quote is not closed/.exec((error as Error).message)?.[0]
  }
}

test('CSV is read as the command reads it', () => {
  const cell = fc.string({
    unit: fc.constantFrom('a', 'é', '"', '""', ',', ';', '\t', '\n', '\r', '\r\n', ' ', '0'),
  })
  fc.assert(
    fc.property(fc.array(cell, { maxLength: 30, size: 'max' }), fc.boolean(), (cells, hasMark) => {
      const csv = `${hasMark ? '\uFEFF' : ''}${cells.join(',')}`
      const parser = openCsvParser()
      expect(outcomeOf(() => [...recordsOf(csv)])).toEqual(
        outcomeOf(() => [...parser.push(csv), ...parser.end()]),
      )
    }),
    runs(2_000, 200_000),
  )
})
