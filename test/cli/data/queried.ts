/** A Windfall with users and purchases, and a way to run queries on its file. */
import { type QueryReceiver, runQuery } from '../../../src/cli/sql/run.ts'
import type { Cell } from '../../../src/exports/tables/table.ts'
import { BUNDLE, renewedPayload } from '../../apple/samples.ts'
import { openTestApp } from '../../helpers.ts'

/** Opens it; close `app` afterwards. */
export async function openQueried() {
  const app = await openTestApp()
  await app.notify(renewedPayload(app.authority))
  for (const appUserId of ['ann', 'bob']) {
    await app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes: { plan: 'pro' } })
    await app.post('/api/sdk/v1/attribute', {
      appUserId,
      bundleId: BUNDLE,
      originalTransactionId: '2000000000000001',
    })
  }
  await app.windfall.metrics.whenCurrent()

  async function query(sql: string, limits?: { max_ms: number; max_bytes: number }) {
    let columns: readonly string[] = []
    const rows: (readonly Cell[])[] = []
    const receiver: QueryReceiver = {
      columns(names) {
        columns = names
      },
      row: (row) => void rows.push(row),
    }
    const { isComplete } = await runQuery(app.config.store.path, sql, receiver, limits)
    return { columns, rows, isComplete }
  }

  return { app, query }
}
