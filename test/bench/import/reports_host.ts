/** A simulated App Store Connect that has only the given SALES reports. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../../src/clock.ts'
import { addDays, pacificDayOf } from '../../../src/days.ts'
import { newKeys } from '../../../src/demo/store/tokens.ts'
import type { AppleAccount } from '../servers/apple_work.ts'
import type { ReportFile } from './report_file.ts'

const VENDOR = '85421907'
const NO_SALES = {
  id: 'x',
  status: '404',
  code: 'NOT_FOUND',
  title: 'There were no sales for the date specified.',
}

/** The last days that can have reports, newest first. */
export const lastDays = (count: number): string[] => {
  const today = pacificDayOf(systemClock())
  return Array.from({ length: count }, (_, index) => addDays(today, -1 - index))
}

/** Listens on the loopback. Answers every report except those of `put` with Apple's "no sales" error. */
export async function openReportsHost() {
  const bodies = new Map<string, Buffer>()
  const { connect_key, purchase_key } = newKeys()
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://apple').searchParams
    const isSales = query.get('filter[reportType]') === 'SALES'
    const body = isSales ? bodies.get(query.get('filter[reportDate]') ?? '') : undefined
    if (body !== undefined) {
      response.writeHead(200, { 'content-type': 'application/a-gzip' }).end(body)
      return
    }
    const json = JSON.stringify({ errors: [{ ...NO_SALES, detail: NO_SALES.title }] })
    response.writeHead(404, { 'content-type': 'application/json' }).end(json)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const account: AppleAccount = {
    hosts: { connect: origin, server: { production: origin, sandbox: origin } },
    connect_key,
    purchase_key,
    vendor_number: VENDOR,
  }

  /** Serves `file` as the report of these days. */
  function put(file: ReportFile, days: readonly string[]): void {
    for (const day of days) bodies.set(day, file.bodyOf(day))
  }

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  return { account, put, close }
}
