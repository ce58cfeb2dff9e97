/** A copy of all exported tables, which is kept up to date through the API as docs/export.md describes. */
import { EXPORT_TABLES } from '../../src/exports/tables/tables.ts'
import type { TestApp } from '../helpers.ts'

type Row = Readonly<Record<string, string | number | null>>
/** A table of the copy: rows by their key. */
type Copy = Map<string, Row>

const linesOf = (text: string): Row[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))

/** Opens an empty copy for the caller with these headers. */
export function openMirror(app: Pick<TestApp, 'request'>, headers: Record<string, string>) {
  const copies = new Map<string, Copy>(EXPORT_TABLES.map(({ name }) => [name, new Map()]))
  let cursor: string | null = null

  async function get(path: string, after: string | null): Promise<Response> {
    const query = after === null ? '' : `?after=${after}`
    const response = await app.request(`/api/v1/exports/${path}${query}`, { headers })
    if (response.status !== 200)
      throw new Error(`${path} returned ${response.status}: ${await response.text()}`)
    return response
  }

  /** Exports what has changed since the last call, and applies it. Returns the number of rows received. */
  async function update(): Promise<number> {
    const tables = await app.request('/api/v1/exports', { headers })
    const next = ((await tables.json()) as { cursor: string }).cursor
    let received = 0
    for (const { name, key } of EXPORT_TABLES) received += await updateTable(name, key)
    cursor = next
    return received
  }

  async function updateTable(name: string, key: readonly string[]): Promise<number> {
    const copy = copies.get(name) ?? new Map()
    const answer = await get(name, cursor)
    const rows = linesOf(await answer.text())
    if (answer.headers.get('x-windfall-export') === 'all') copy.clear()
    else deleteFrom(copy, linesOf(await (await get(`${name}/deleted`, cursor)).text()))
    for (const row of rows) copy.set(key.map((column) => row[column]).join('\n'), row)
    return rows.length
  }

  /** All rows of all tables, as sorted texts. */
  const rows = (): Record<string, string[]> =>
    Object.fromEntries(
      [...copies].map(([name, copy]) => [name, [...copy.values()].map((row) => JSON.stringify(row)).sort()]),
    )

  return { update, rows, cursor: () => cursor }
}

function deleteFrom(copy: Copy, keys: readonly Row[]): void {
  for (const key of keys) for (const [id, row] of copy) if (isMatching(row, key)) copy.delete(id)
}

const isMatching = (row: Row, key: Row): boolean =>
  Object.entries(key).every(([name, value]) => row[name] === value)

/** All rows of a first export. */
export async function freshRows(app: Pick<TestApp, 'request'>, headers: Record<string, string>) {
  const mirror = openMirror(app, headers)
  await mirror.update()
  return mirror.rows()
}
