/** A separate process with a file size limit: writes until the store warns, closes, and prints the result. */
import { openStore } from '../../../src/store/store.ts'

const warnings: string[] = []
const store = openStore(String(process.argv[2]), { warn: (message) => void warnings.push(message) })
const insert = store.prepare<[string, string]>('insert into settings (key, value) values (?, ?)')
let committed = 0
// At most five megabytes of log: enough to start checkpoints, and below the file size limit.
for (; committed < 400; committed += 1) {
  await store.commit(() => void insert.run(`new${committed}`, 'x'.repeat(4_000)))
}
while (warnings.length === 0) await new Promise((resolve) => setImmediate(resolve))
await store.close()
process.stdout.write(JSON.stringify({ warnings, committed }))
