/** An App Store Connect with answers that a test sets, and a Windfall connected to it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { ReportKind } from '../../../src/apple/api/connect.ts'
import { newKeys } from '../../../src/demo/store/tokens.ts'
import { APPLE_ID, BUNDLE } from '../../apple/samples.ts'
import { handClock, openTestApp } from '../../helpers.ts'
import { type Cells, zipped } from './samples.ts'

/** Noon in California on the day after the samples' day. */
const NOW = Date.UTC(2026, 4, 2, 19)
export const HOUR = 3_600_000
export const VENDOR = '85421907'

type ReportReply = Buffer | 'empty' | 'not_yet' | 'gone' | 'wrong'

const DETAILS: Record<string, [status: number, detail: string]> = {
  empty: [404, 'There were no sales for the date specified.'],
  not_yet: [404, 'Report is not available yet. Daily reports are available by 8 am PT the next day.'],
  gone: [410, 'Report is no longer available. Daily reports are available for 365 days.'],
  wrong: [400, 'Invalid vendor number specified.'],
}

export async function openApple() {
  const clock = handClock(NOW)
  const replies = new Map<string, ReportReply>()
  const keys = newKeys()
  let requestCount = 0
  const server = createServer((req, res) => {
    requestCount += 1
    const query = new URL(req.url ?? '', 'http://apple').searchParams
    const of = (name: string) => query.get(`filter[${name}]`) ?? ''
    const key = [of('vendorNumber'), of('reportType').toLowerCase(), of('reportDate')].join(' ')
    const answer = replies.get(key) ?? 'empty'
    if (typeof answer !== 'string')
      return void res.writeHead(200, { 'content-type': 'application/a-gzip' }).end(answer)
    const [status, detail] = DETAILS[answer] ?? [500, '']
    const error = { id: 'x', status: String(status), code: 'X', title: detail, detail }
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ errors: [error] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** A Windfall with the key to it, on a new database or on the one in `folder`. */
  async function openWindfall({
    folder,
    vendor_numbers = [VENDOR],
    connect = origin,
  }: {
    folder?: string
    /** The address of App Store Connect, by default this one. */
    connect?: string
    vendor_numbers?: string[]
  } = {}) {
    const apps = folder ? [] : [{ bundle_id: BUNDLE, apple_id: APPLE_ID, sku: 'LANTERN-1' }]
    const hosts = { connect, server: { production: origin, sandbox: origin } }
    const app = await openTestApp({ clock, hosts, apps, ...(folder && { folder }) })
    const { windfall, organization } = app
    const organization_id = organization.id
    windfall.accounts.declare([
      { organization_id, connect: keys.connect_key, purchases: null, vendor_numbers },
    ])
    const day = (kind: ReportKind, on: string, vendor_number = VENDOR) =>
      windfall.store
        .prepare(
          'select state, reason, report_id, tries, due_at from import_days where kind = ? and day_on = ? and vendor_number = ?',
        )
        .get(kind, on, vendor_number) as Record<string, unknown> | undefined
    return { ...app, imports: windfall.imports, store: windfall.store, day }
  }

  /** Sets the answer for a day of a report. */
  function setReply(
    kind: ReportKind,
    day: string,
    what: ReportReply | readonly Cells[],
    vendor_number = VENDOR,
  ): void {
    const answer = typeof what === 'string' || Buffer.isBuffer(what) ? what : zipped(what)
    replies.set(`${vendor_number} ${kind} ${day}`, answer)
  }

  return { clock, setReply, openWindfall, requestCount: () => requestCount }
}
