/** The simulated /v1/salesReports: each day's reports, with their publication times and revisions. */
import type { Clock } from '../../clock.ts'
import type { Books, Entry } from '../world/books.ts'
import { dayAfter, pacificDay, pacificInstant } from '../world/pacific.ts'
import { HOUR_MS } from '../world/periods.ts'
import { isLate } from '../world/selling.ts'
import { EVENT_COLUMNS, eventRows } from './events.ts'
import type { ReportType, StoreFaults } from './fault_injection.ts'
import { LEVEL_COLUMNS, levelRows } from './levels.ts'
import type { Answer, Handler, StoreRequest } from './listener.ts'
import { connectRefusal, notFound, wrongParameter } from './refusals.ts'
import { SALES_COLUMNS, salesRows } from './sales.ts'
import { SUBSCRIBER_COLUMNS, subscriberRows } from './subscribers.ts'
import { type Row, tableOf } from './tables.ts'

/** The hour of the next Pacific day at which reports are published. A day later, they are published with late rows. */
const REPORT_HOUR = 8
const RETENTION_DAYS = 365

const REPORT_TYPES: readonly ReportType[] = ['SALES', 'SUBSCRIPTION', 'SUBSCRIPTION_EVENT', 'SUBSCRIBER']

const SUB_TYPES: Record<ReportType, string> = {
  SALES: 'SUMMARY',
  SUBSCRIPTION: 'SUMMARY',
  SUBSCRIPTION_EVENT: 'SUMMARY',
  SUBSCRIBER: 'DETAILED',
}

const COLUMNS: Record<ReportType, readonly string[]> = {
  SALES: SALES_COLUMNS,
  SUBSCRIPTION: LEVEL_COLUMNS,
  SUBSCRIPTION_EVENT: EVENT_COLUMNS,
  SUBSCRIBER: SUBSCRIBER_COLUMNS,
}

/** Returns a function that finds the entries of a day. It reads only entries that were added since its last call. */
function openEntriesByDay(books: Books) {
  const entriesByDay = new Map<string, Entry[]>()
  let readCount = 0
  return (day: string): Entry[] => {
    for (; readCount < books.entries.length; readCount += 1) {
      const entry = books.entries[readCount]
      if (entry === undefined || entry.environment !== 'production' || entry.shared) continue
      const entryDay = pacificDay(entry.at)
      const list = entriesByDay.get(entryDay)
      if (list === undefined) entriesByDay.set(entryDay, [entry])
      else list.push(entry)
    }
    return entriesByDay.get(day) ?? []
  }
}

export type Timetable = ReturnType<typeof openTimetable>

/** Opens the timetable of reports: whether a day's reports are published, final, or no longer available. */
export function openTimetable(clock: Clock, faults: StoreFaults) {
  const delayMs = () => faults.report_delay_hours * HOUR_MS
  const publishedAt = (day: string, days: number) =>
    pacificInstant(dayAfter(day, days), REPORT_HOUR) + delayMs()
  return {
    isPublished: (day: string) => clock() >= publishedAt(day, 1),
    isFinal: (day: string) => clock() >= publishedAt(day, 2),
    isExpired: (day: string) => clock() >= publishedAt(day, 1 + RETENTION_DAYS),
  }
}

/** The version after `version`, such as 1_5 after 1_4. */
function versionAfter(version: string): string {
  const [major = '1', minor = '0'] = version.split('_')
  return `${major}_${Number(minor) + 1}`
}

function latestVersion(faults: StoreFaults, type: ReportType): string {
  const version = faults.versions[type]
  return faults.refused_version === version ? versionAfter(version) : version
}

type ReportsOptions = {
  books: Books
  clock: Clock
  faults: StoreFaults
  timetable: Timetable
  vendor_number: string
}

export function openReports({ books, clock, faults, timetable, vendor_number }: ReportsOptions): Handler {
  const entriesOf = openEntriesByDay(books)

  function rowsOf(type: ReportType, day: string): Row[] {
    const isFinalReport = timetable.isFinal(day)
    const lines = () => books.linesOf(day).filter((line) => isFinalReport || !line.late)
    if (type === 'SALES') return salesRows(lines())
    if (type === 'SUBSCRIBER') return subscriberRows(lines())
    if (type === 'SUBSCRIPTION_EVENT') {
      return eventRows(
        books,
        entriesOf(day).filter((entry) => isFinalReport || !isLate(entry.transaction_id)),
      )
    }
    const end = pacificInstant(dayAfter(day)) - 1
    return levelRows(
      books,
      end,
      (s) => isFinalReport || pacificDay(s.from) !== day || !isLate(s.transaction_id),
    )
  }

  const noSales = () => notFound('There were no sales for the date specified.')

  function versionRefusal(type: ReportType, version: string | null): Answer | null {
    const latest = latestVersion(faults, type)
    if (version === latest || (version === null && latest === '1_0')) return null
    if (faults.old_versions_have_no_sales && version !== null) return noSales()
    const problem =
      version === null
        ? 'Please include the version parameter.'
        : 'The version parameter you have specified is invalid.'
    return wrongParameter('filter[version]', `${problem} The latest version for this report is ${latest}.`)
  }

  function refusalFor(request: StoreRequest): Answer | null {
    const { query, accept } = request
    if (!/application\/a-gzip|\*\/\*/.test(accept)) {
      return connectRefusal({
        status: 406,
        code: 'NOT_ACCEPTABLE',
        title: 'The specified value for Accept header is unacceptable',
        detail: `The specified value '${accept}' for Accept header is unacceptable. Valid values: application/a-gzip`,
      })
    }
    if (query.get('filter[frequency]') !== 'DAILY') {
      return wrongParameter('filter[frequency]', 'The frequency is not one of the valid values: DAILY')
    }
    if (query.get('filter[vendorNumber]') !== vendor_number) {
      return wrongParameter('filter[vendorNumber]', 'Invalid vendor number specified.')
    }
    return null
  }

  function typeOf(query: URLSearchParams): ReportType | null {
    const type = REPORT_TYPES.find((name) => name === query.get('filter[reportType]'))
    return type !== undefined && SUB_TYPES[type] === query.get('filter[reportSubType]') ? type : null
  }

  function answerFor(type: ReportType, day: string): Answer {
    if (timetable.isExpired(day)) {
      return connectRefusal({
        status: 410,
        code: 'GONE',
        title: 'The requested resource is no longer available',
        detail: 'Report is no longer available. Daily reports are available for 365 days.',
      })
    }
    if (!timetable.isPublished(day)) {
      return notFound('Report is not available yet. Daily reports are available by 8 am PT the next day.')
    }
    const rows = rowsOf(type, day)
    if (rows.length === 0) return noSales()
    const headers = {
      'content-type': 'application/a-gzip',
      'content-disposition': `attachment; filename=S_D_${type}_${day}.txt.gz`,
    }
    return { status: 200, headers, body: tableOf(COLUMNS[type], rows) }
  }

  return (request) => {
    const refusal = refusalFor(request)
    if (refusal !== null) return refusal
    const type = typeOf(request.query)
    if (type === null) {
      return wrongParameter(
        'filter[reportType]',
        'The report type or sub type is not one of the valid values.',
      )
    }
    const day = request.query.get('filter[reportDate]') ?? dayAfter(pacificDay(clock()), -1)
    if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day))) {
      return wrongParameter('filter[reportDate]', 'The report date is not in the format YYYY-MM-DD.')
    }
    return versionRefusal(type, request.query.get('filter[version]')) ?? answerFor(type, day)
  }
}
