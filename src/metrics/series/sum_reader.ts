/** Reads the sums of a request from the best source, with the amounts that no exchange rate is known for. */
import type { Basis } from '../../money.ts'
import type { Store } from '../../store/store.ts'
import type { JoinedSums } from '../joined/tallies.ts'
import { SUMMED_KINDS } from '../reports/cells.ts'
import type { Reported } from '../reports/reported.ts'
import { openReportedSums } from '../reports/sums.ts'
import { openRowReader } from '../sums/row_sums.ts'
import { openRowThread } from '../sums/row_thread.ts'
import type { openSums } from '../sums/sums.ts'
import type { SumQuery, Unconverted } from '../sums/tallies.ts'

type Deps = {
  store: Store
  sums: ReturnType<typeof openSums>
  reported: Pick<Reported, 'readTallies' | 'ledgerOnlyIn' | 'knownFrom'>
}

/** `of_money`: whether the metric is money, or a ratio of money. `of_ledger`: reads the ledger only. */
type SumOptions = { basis: Basis; of_money: boolean; of_ledger: boolean }

export function openSumReader({ store, sums, reported }: Deps) {
  const rowReader = openRowReader(store)
  const rowThread = openRowThread(store.file)
  const reportedSums = openReportedSums(store)

  /** The apps of a query that Apple’s reports contain. */
  const reportedApps = ({ shown, environment, apps }: SumQuery): string[] =>
    apps.filter(
      (app_id) =>
        environment === 'production' &&
        SUMMED_KINDS.some((kind) => reportedSums.isReported({ generation: shown.id, app_id }, kind)),
    )

  async function read(asked: SumQuery, { basis, of_money, of_ledger }: SumOptions): Promise<JoinedSums> {
    const sumQuery = { ...asked, known_from: reported.knownFrom(asked) }
    if (sumQuery.attribute !== null) {
      const rows = await rowThread.sumByAttribute(sumQuery)
      return { ...rows, ...(!of_money && { unconverted: new Map() }), from: reported.ledgerOnlyIn(sumQuery) }
    }
    const readLedger = async (one: SumQuery) => ({
      tallies: await sums.read(one),
      unconverted: of_money ? await unconvertedFor(one) : new Map(),
    })
    const isJoined =
      basis === 'proceeds' || reportedApps(sumQuery).length > 0 || sumQuery.measures.includes('downloads')
    return isJoined && !of_ledger
      ? reported.readTallies(sumQuery, readLedger, { basis, of_money })
      : { ...(await readLedger(sumQuery)), from: reported.ledgerOnlyIn(sumQuery) }
  }

  /** Amounts without a rate. Only their totals are stored as daily sums; filtered amounts are summed from rows. */
  async function unconvertedFor(sumQuery: SumQuery): Promise<Unconverted> {
    if (sumQuery.currency !== null) return new Map()
    const whole = sums.unconverted(sumQuery)
    const isTotal =
      sumQuery.split === null && sumQuery.zone === 'own' && Object.keys(sumQuery.filters).length === 0
    return whole.size === 0 || isTotal ? whole : rowReader.unconverted(sumQuery)
  }

  /** The currencies of a query’s amounts, in the ledger and in Apple’s reports. */
  function currencies(sumQuery: SumQuery): string[] {
    const generation = sumQuery.shown.id
    const ofReports = reportedApps(sumQuery).flatMap((app_id) =>
      reportedSums.currenciesOf({ generation, app_id }, 'currency'),
    )
    return [...new Set([...sums.currencies(sumQuery), ...ofReports])]
  }

  return { read, currencies, close: rowThread.close }
}
