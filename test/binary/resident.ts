/** Which pages of a file are in the memory of a process. */
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

/** The bytes of a page in /proc/PID/pagemap: https://docs.kernel.org/admin-guide/mm/pagemap.html. */
const ENTRY_BYTES = 8
/** The highest bit of an entry: the page is resident. */
const PRESENT = 0x80

/** The share of the pages with `content`, a part of the mapped `file`, that are resident in the process: 0 to 1. */
export function residentShare(pid: number, file: string, content: Buffer): number {
  const pageBytes = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }))
  const offset = readFileSync(file).indexOf(content)
  if (offset < 0) throw new Error(`${file} does not contain these ${content.length} bytes`)
  const first = Math.floor(addressOf(pid, file, offset) / pageBytes)
  const pages = Math.ceil(content.length / pageBytes)
  const entries = Buffer.alloc(pages * ENTRY_BYTES)
  const pagemap = openSync(`/proc/${pid}/pagemap`, 'r')
  try {
    readSync(pagemap, entries, 0, entries.length, first * ENTRY_BYTES)
  } finally {
    closeSync(pagemap)
  }
  const isPresent = (_: unknown, page: number) =>
    ((entries[page * ENTRY_BYTES + ENTRY_BYTES - 1] ?? 0) & PRESENT) !== 0
  return Array.from({ length: pages }, isPresent).filter(Boolean).length / pages
}

/** The address at which the process maps the byte `offset` of `file`. @throws Error if it maps it nowhere. */
function addressOf(pid: number, file: string, offset: number): number {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')
  for (const line of lines.filter((each) => each.endsWith(` ${file}`))) {
    const [from = 0, to = 0, start = 0] = [/^\w+/, /(?<=-)\w+/, /(?<= \S+ )\w+/].map((part) =>
      Number.parseInt(part.exec(line)?.[0] ?? '', 16),
    )
    if (offset >= start && offset - start < to - from) return from + offset - start
  }
  throw new Error(`the process ${pid} does not map the byte ${offset} of ${file}`)
}
