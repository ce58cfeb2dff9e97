/** Reads CSV files of any size (RFC 4180), also compressed with gzip. */
import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Refusal } from '../../errors.ts'

/** A record of the file. `line` is the number of its first line. */
export type CsvRecord = { line: number; cells: string[] }

const MAX_RECORD_CHARACTERS = 1_048_576
const DELIMITERS = [',', ';', '\t']

/** The records of `file`, the header first. The delimiter is a comma, a semicolon or a tab, whichever the header has. */
export async function* recordsOf(file: string): AsyncGenerator<CsvRecord> {
  const parser = openCsvParser()
  for await (const chunk of textOf(file)) yield* parser.push(chunk)
  yield* parser.end()
}

/** @throws Refusal 400 `invalid_file` if the file cannot be read, is not gzip although it ends in .gz, or is not UTF-8. */
async function* textOf(file: string): AsyncGenerator<string> {
  const bytes: Readable = createReadStream(file)
  // The iteration below throws the error of a stream. `pipeline` listens for one that comes before the iteration does.
  const plain = file.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => {}) : bytes
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of plain) yield decoder.decode(chunk as Buffer, { stream: true })
    yield decoder.decode()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isEncoding = code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
    throw new Refusal(400, 'invalid_file', `${file}: ${isEncoding ? 'it is not UTF-8 text' : message}`)
  }
}

/** A parser that receives the text in pieces. */
export function openCsvParser() {
  let rest = ''
  let line = 1
  let delimiter: string | null = null

  /**
   * Returns the records that are complete with this piece.
   *
   * @throws Refusal 400 `invalid_file` for a huge record, and at the end for a quote that is not closed.
   */
  function push(text: string): CsvRecord[] {
    rest = rest === '' && line === 1 && delimiter === null ? text.replace(/^\uFEFF/, '') : rest + text
    return take(false)
  }

  const end = (): CsvRecord[] => take(true)

  function take(isEnd: boolean): CsvRecord[] {
    const records: CsvRecord[] = []
    let from = 0
    for (;;) {
      const until = endOfRecord(rest, from, isEnd)
      if (until === null) break
      const text = rest.slice(from, until.at)
      delimiter ??= DELIMITERS.toSorted((a, b) => text.split(b).length - text.split(a).length)[0] ?? ','
      if (text !== '') records.push({ line, cells: cellsOf(text, delimiter) })
      line += 1 + newlinesIn(text)
      from = until.next
    }
    rest = rest.slice(from)
    if (rest.length > MAX_RECORD_CHARACTERS)
      throw invalidLine(line, 'a quote is not closed, or the line is longer than 1 MB')
    if (isEnd && rest !== '')
      throw invalidLine(line, 'a quote is not closed, so the rest of the file would be one cell')
    return records
  }

  return { push, end }
}

const invalidLine = (line: number, words: string): Refusal =>
  new Refusal(400, 'invalid_file', `line ${line}: ${words}`)

/** Where the record that begins at `from` ends, and where the next one begins; null if its end has not arrived. */
function endOfRecord(text: string, from: number, isEnd: boolean): { at: number; next: number } | null {
  let isQuoted = false
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isQuoted = !isQuoted
    if (isQuoted || (character !== '\n' && character !== '\r')) continue
    // The line feed after a carriage return may be in the next piece.
    if (character === '\r' && at + 1 === text.length && !isEnd) return null
    return { at, next: at + (character === '\r' && text[at + 1] === '\n' ? 2 : 1) }
  }
  return isEnd && !isQuoted && from < text.length ? { at: text.length, next: text.length } : null
}

function cellsOf(text: string, delimiter: string): string[] {
  const cells: string[] = []
  let isQuoted = false
  let from = 0
  for (let at = 0; at <= text.length; at += 1) {
    if (text[at] === '"') isQuoted = !isQuoted
    if (at < text.length && (isQuoted || text[at] !== delimiter)) continue
    const cell = text.slice(from, at).trim()
    cells.push(/^".*"$/s.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    from = at + 1
  }
  return cells
}

const newlinesIn = (text: string): number => text.split(/\r\n|\n|\r/).length - 1
