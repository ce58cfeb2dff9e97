/** Writes an account into the text of a config.toml and leaves every other byte unchanged. */
import { isDeepStrictEqual } from 'node:util'
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import { isTable, tomlText } from './setting.ts'
import { namesOf, readToml } from './sources/toml.ts'

/** The settings of one `[[accounts]]`: null removes a setting, an absent key leaves it unchanged. */
export type AccountEntry = Partial<
  Readonly<{
    organization: string | null
    issuer_id: string | null
    vendor_numbers: readonly string[] | null
    connect_key_id: string | null
    connect_key: null
    connect_key_file: string | null
    purchase_issuer_id: string | null
    purchase_key_id: string | null
    purchase_key: null
    purchase_key_file: string | null
  }>
>

type Edit = Readonly<{ from: number; to: number; text: string }>

/**
 * Returns the text of a config file with the account at `index` changed, or with a new account at the end if `index`
 * is null. Comments, order and line endings stay. Returns null if the accounts are written in a form that cannot be
 * edited, such as `accounts = [{ … }]`.
 */
export function withAccount(text: string, entry: AccountEntry, index: number | null): string | null {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  if (index === null) {
    const tables = accountTables(text)
    const isInline = tables !== null && tables.length === 0 && hasAccounts(text)
    return tables === null || isInline ? null : text + appendedAccount(text, entry, newline)
  }
  const table = accountTables(text)?.[index]
  return table ? applyEdits(text, editsOf(text, table, entry, index, newline)) : null
}

/** The lines of an account as TOML, to write to a file or to show to the owner. */
export function accountLines(entry: AccountEntry): string[] {
  const pairs = Object.entries(entry).filter(([, value]) => value !== null && value !== undefined)
  return ['[[accounts]]', ...pairs.map(([key, value]) => `${key} = ${tomlText(value)}`)]
}

function appendedAccount(text: string, entry: AccountEntry, newline: string): string {
  const gap = text === '' ? '' : text.endsWith('\n') ? newline : newline + newline
  return `${gap}${accountLines(entry).join(newline)}${newline}`
}

/** Each `[[accounts]]` of the text, in order; null if the text cannot be parsed. */
function accountTables(text: string): AST.TOMLTable[] | null {
  try {
    return parseTOML(text).body[0].body.flatMap((node) => {
      const isAccountTable = node.type === 'TOMLTable' && node.kind === 'array'
      return isAccountTable && isDeepStrictEqual(namesOf(node.key), ['accounts']) ? node : []
    })
  } catch (error) {
    if (error instanceof ParseError) return null
    throw error
  }
}

const hasAccounts = (text: string): boolean => valuesOf(text).length > 0

/** The accounts in the text, each a table. */
function valuesOf(text: string): Record<string, unknown>[] {
  const toml = readToml(text)
  const found = 'values' in toml ? toml.values.accounts : undefined
  return Array.isArray(found) ? found.filter(isTable) : []
}

function editsOf(
  text: string,
  table: AST.TOMLTable,
  entry: AccountEntry,
  index: number,
  newline: string,
): Edit[] {
  const existing = valuesOf(text)[index] ?? {}
  const edits: Edit[] = []
  const addedLines: string[] = []
  for (const [key, value] of Object.entries(entry)) {
    const pair = table.body.find(({ key: written }) => isDeepStrictEqual(namesOf(written), [key]))
    if (value === undefined || (pair && isSame(existing[key], value))) continue
    if (value === null) edits.push(...(pair ? [withoutPair(text, pair)] : []))
    else if (pair) edits.push({ from: pair.value.range[0], to: pair.value.range[1], text: tomlText(value) })
    else addedLines.push(`${newline}${key} = ${tomlText(value)}`)
  }
  const removed = Object.entries(entry).flatMap(([key, value]) => (value === null ? key : []))
  const remaining = table.body.filter(({ key }) => !removed.includes(namesOf(key).join('.')))
  const insertAt = endOfLine(text, Math.max(table.key.range[1], ...remaining.map(({ range }) => range[1])))
  return [...edits, { from: insertAt, to: insertAt, text: addedLines.join('') }]
}

/** Whether the values are equal; numbers and strings of the same digits are. */
const isSame = (existing: unknown, value: string | readonly string[] | null): boolean =>
  isDeepStrictEqual(Array.isArray(existing) ? existing.map(String) : existing, value)

/** Removes a setting with its line, or the setting alone if a comment follows it. */
function withoutPair(text: string, { range: [from, to] }: AST.TOMLKeyValue): Edit {
  const end = endOfLine(text, to)
  const isAlone = text.slice(to, end).trim() === ''
  if (!isAlone) return { from, to, text: '' }
  const next = text.indexOf('\n', end)
  return { from: text.lastIndexOf('\n', from) + 1, to: next < 0 ? text.length : next + 1, text: '' }
}

/** The end of the line that contains `position`, before its line ending. */
function endOfLine(text: string, position: number): number {
  const next = text.indexOf('\n', position)
  const end = next < 0 ? text.length : next
  return text[end - 1] === '\r' && end > position ? end - 1 : end
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((before, { from, to, text: piece }) => before.slice(0, from) + piece + before.slice(to), text)
}
