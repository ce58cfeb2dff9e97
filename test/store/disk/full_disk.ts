/** A process of its own whose files may not grow as they would: writes until it is told so, closes, and says how it went. */
import { openStore } from '../../../src/store/store.ts'

const warnings: string[] = []
const store = openStore(String(process.argv[2]), { warn: (message) => void warnings.push(message) })
const insert = store.prepare<[string, string]>('insert into settings (key, value) values (?, ?)')
let committed = 0
// Five megabytes of log at most: enough to wake its thread, and less than a file may have.
for (; committed < 400; committed += 1) {
  await store.commit(() => void insert.run(`new${committed}`, 'x'.repeat(4_000)))
}
while (warnings.length === 0) await new Promise((resolve) => setImmediate(resolve))
await store.close()
process.stdout.write(JSON.stringify({ warnings, committed }))
