/**
 * The only script that runs before the page is parsed. Applies the selected theme before the first paint, and sends the
 * reads that loading/remembered_reads.ts remembered for this address, while the browser still loads the code.
 */
import type { EarlyReads, Memory } from './loading/remembered_reads.ts'

const theme = localStorage.getItem('theme')
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme

const memory: Memory = JSON.parse(localStorage.getItem('reads') ?? '{}')
const reads = memory[location.pathname + location.search]
if (reads) {
  const get = reads.map(encodeURIComponent).join('+')
  const answers = fetch(`/api/v1/batch?get=${get}`, { headers: { accept: 'application/json' } })
    .then((response) => response.json())
    .then((batch) => batch.answers ?? [])
    .catch(() => [])
  const early: EarlyReads = { reads, answers }
  Object.assign(globalThis, { earlyReads: early })
}
