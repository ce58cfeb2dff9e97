/** Reads the text of a report, gzip or plain, in blocks of whole lines, so that a whole file is never in memory. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import { quoted, ReportFault } from './fault.ts'

const CHUNK_BYTES = 65_536
/** A longer line is a fault. Apple's lines have a few hundred bytes. */
const MAX_LINE_BYTES = 262_144
const NEWLINE = 10

/**
 * A block of whole lines, with their newlines. Only the last line of the file may lack one. `line` is the number of the
 * first line.
 */
type Block = { text: string; line: number }

/** Whether the bytes are gzip. Apple usually sends gzip as the body, and sometimes plain text. */
export const isGzip = (body: Buffer): boolean => body[0] === 0x1f && body[1] === 0x8b

/**
 * The lines of a report in blocks of about 64 kB.
 *
 * @throws ReportFault for truncated bytes, bytes that are not text, a line longer than 256 kB, or a NUL.
 */
export async function* blocksOf(body: Buffer): AsyncGenerator<Block> {
  let line = 1
  for await (const bytes of wholeLines(body)) {
    const text = textOf(bytes, line)
    yield { text, line }
    line += newlineCountOf(text)
  }
}

/**
 * The SHA-256 of the uncompressed report. The compressed bytes of the same report may differ between answers.
 *
 * @throws ReportFault for truncated bytes, or for a web page or JSON instead of a report.
 */
export async function fingerprintOf(body: Buffer): Promise<Buffer> {
  const sha256 = createHash('sha256')
  let isFirst = true
  for await (const chunk of inflated(body)) {
    if (isFirst) assertReport(chunk.subarray(0, 256).toString())
    isFirst = false
    sha256.update(chunk)
  }
  if (isFirst) throw new ReportFault('truncated', 'it is empty')
  return sha256.digest()
}

function assertReport(head: string): void {
  const text = head.replace(/^\uFEFF/, '').trimStart()
  if (text.startsWith('<'))
    throw new ReportFault('foreign', `it is a web page, not a report: ${quoted(text)}`)
  if (/^[{[]/.test(text)) throw new ReportFault('foreign', `it is JSON, not a report: ${quoted(text)}`)
}

async function* inflated(body: Buffer): AsyncGenerator<Buffer> {
  if (!isGzip(body)) {
    for (let at = 0; at < body.length; at += CHUNK_BYTES) yield body.subarray(at, at + CHUNK_BYTES)
    return
  }
  // Most reports have a few kilobytes, and zlib always allocates a whole chunk.
  const chunkSize = Math.min(CHUNK_BYTES, Math.max(4_096, body.length * 8))
  const gunzip = createGunzip({ chunkSize })
  gunzip.end(body)
  try {
    for await (const chunk of gunzip) yield chunk
  } catch (error) {
    if (!isZlibError(error)) throw error
    throw new ReportFault('truncated', `the compressed bytes are damaged or end too early (${error.message})`)
  }
}

const isZlibError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')

async function* wholeLines(body: Buffer): AsyncGenerator<Buffer> {
  let carry: Buffer[] = []
  let length = 0
  for await (const chunk of inflated(body)) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) yield Buffer.concat([...carry, chunk.subarray(0, end)])
    carry = end > 0 ? [chunk.subarray(end)] : [...carry, chunk]
    length = end > 0 ? chunk.length - end : length + chunk.length
    if (length > MAX_LINE_BYTES) throw new ReportFault('unreadable', 'has a line of more than 256 kB')
  }
  if (length > 0) yield Buffer.concat(carry)
}

function textOf(bytes: Buffer, line: number): string {
  const text = bytes.toString()
  if (!isUtf8(bytes))
    throw new ReportFault('unreadable', 'is not text in UTF-8', { line: line + linesBeforeInvalid(bytes) })
  const nul = text.indexOf('\0')
  if (nul >= 0) throw nulFault(text, nul, line)
  return text
}

/** The number of lines before the first line that is not UTF-8. */
function linesBeforeInvalid(bytes: Buffer): number {
  let from = 0
  for (let lines = 0; ; lines += 1) {
    const end = bytes.indexOf(NEWLINE, from)
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return lines
    from = end + 1
  }
}

function nulFault(text: string, nul: number, line: number): ReportFault {
  const before = text.slice(0, nul)
  const cell = before.slice(before.lastIndexOf('\n') + 1).split('\t').length
  return new ReportFault('unreadable', `cell ${cell} has a NUL in it`, {
    line: line + newlineCountOf(before),
  })
}

function newlineCountOf(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
