/**
 * Imports which purchase belongs to which user, as the owner’s backend would say with a secret key. Its events have the
 * origin `backfill`, so that nothing is forwarded, and its rows do not count in the rate window of SDK calls.
 */
import type { App, Apps } from '../../apps/apps.ts'
import { Refusal } from '../../errors.ts'
import { parse } from '../../http/parse.ts'
import { openBulk } from '../../store/bulk.ts'
import type { Store } from '../../store/store.ts'
import type { Attribution } from '../attribution.ts'
import type { Erasures } from '../erasure/erasure.ts'
import { LinkRow } from './link_row.ts'

/** The rows of one bulk unit of work: few enough to take about a millisecond. */
const ROWS_AT_ONCE = 25

/** What a row did, or would do. `moved`: the purchase belonged to another user before. */
type RowEffect = 'linked' | 'moved' | 'unchanged'

/** Why a row was refused. `row` counts from the first row of the import, which is 0. */
type RowFault = { row: number; code: string; message: string }

/** The number of rows by their effect, and each refused row. */
export type ImportOutcome = Record<RowEffect | 'refused', number> & { faults: RowFault[] }

/** What each row of a dry run would do if it were the only one, and each refused row. */
export type JudgedRows = { effects: (RowEffect | 'refused')[]; faults: RowFault[] }

type Options = {
  /** The only organization whose apps may occur; null for all. */
  organization_id: string | null
  /** The number of the first row. */
  first?: number
  /** Called in the commit of each group of rows, with the number of rows and their effects. */
  record?: (rows: number, effects: ImportOutcome) => void
}

type Deps = {
  store: Pick<Store, 'commitBulk' | 'inSavepoint'>
  apps: Pick<Apps, 'byBundle'>
  attribution: Attribution
  erasures: Pick<Erasures, 'admit'>
}

export type LinkImport = ReturnType<typeof openLinkImport>

const noEffects = (): ImportOutcome => ({ linked: 0, moved: 0, unchanged: 0, refused: 0, faults: [] })

/** Opens the import of links. */
export function openLinkImport(deps: Deps) {
  const { store, attribution } = deps
  const admitted = openAdmission(deps)

  /**
   * Imports rows in order. An invalid row, or one that an `attribute` call would refuse, changes nothing and becomes a
   * fault; the others are imported. A repeated row changes nothing. Resolves when all rows are on disk.
   *
   * @throws Refusal 503 if the database cannot be written; the rows after the last commit are then not imported.
   */
  async function run(rows: readonly unknown[], options: Options): Promise<ImportOutcome> {
    const { first = 0, record = () => {} } = options
    const total = noEffects()
    const bulk = openBulk(store)
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const group = rows.slice(at, at + ROWS_AT_ONCE)
      await bulk.add(() => {
        const effects = applyAll(group, first + at, options)
        record(group.length, effects)
        add(total, effects)
      })
    }
    await bulk.finish()
    return total
  }

  function applyAll(rows: readonly unknown[], first: number, options: Options): ImportOutcome {
    const effects = noEffects()
    rows.forEach((row, index) => {
      const error = store.inSavepoint(() => apply(effects, row, options))
      if (error === null) return
      effects.refused += 1
      effects.faults.push(faultOf(error, first + index))
    })
    return effects
  }

  function apply(effects: ImportOutcome, input: unknown, options: Options): void {
    const { app, row } = admitted(input, options)
    effects[applyRow(attribution, app, row)] += 1
  }

  function judgeRow(input: unknown, options: Options): RowEffect {
    const { app, row } = admitted(input, options)
    const link = attribution.links.get(app.id, 'apple', row.original_transaction_id)
    if (link === null) return 'linked'
    return link.app_user_id === row.app_user_id ? 'unchanged' : 'moved'
  }

  /** A dry run: what each row would do. It reads only, so it does not see the rows before. */
  const judge = (rows: readonly unknown[], options: Options): JudgedRows =>
    judgeAll(rows, options.first ?? 0, (row) => judgeRow(row, options))

  return { run, judge }
}

/** Returns a function that checks a row and finds its app. */
function openAdmission({ apps, attribution, erasures }: Deps) {
  /** @throws Refusal for an invalid row, an unknown or ambiguous app, and an erased user. */
  return function admitted(input: unknown, { organization_id }: Options): { app: App; row: LinkRow } {
    const row = parse(LinkRow, input)
    attribution.users.assertCount(row.attributes)
    const app = appOf(row.app, organization_id)
    erasures.admit(app.id, row.app_user_id)
    return { app, row }
  }

  function appOf(bundle_id: string, organization_id: string | null): App {
    const found = apps
      .byBundle(bundle_id)
      .filter((app) => organization_id === null || app.organization_id === organization_id)
    const [app, another] = found
    if (!app) throw new Refusal(404, 'unknown_app', `no app with the bundle id ${bundle_id} is connected`)
    if (!another) return app
    const message = `several organizations have ${bundle_id}: name the organization`
    throw new Refusal(409, 'ambiguous_app', message)
  }
}

/** What a row does, as the calls with a secret key that it stands for. */
function applyRow(attribution: Attribution, app: App, row: LinkRow): RowEffect {
  const caller = { app, credential: 'secret', device: null } as const
  const common = { appUserId: row.app_user_id, bundleId: row.app }
  const device = { platform: null, osVersion: null, deviceModel: null, locale: null }
  const { attributes, original_transaction_id: originalTransactionId } = row
  if (attributes !== null)
    attribution.identify(caller, { ...common, ...device, attributes }, null, 'backfill')
  const purchase = { platform: 'ios', productId: null, jws: null, store: 'apple' } as const
  const call = { ...common, ...purchase, originalTransactionId }
  const evidence = { signed: null, unattested: null }
  const { before, moved } = attribution.attribute(caller, call, evidence, 'backfill')
  return before === null ? 'linked' : moved ? 'moved' : 'unchanged'
}

function judgeAll(rows: readonly unknown[], first: number, judge: (row: unknown) => RowEffect): JudgedRows {
  const faults: RowFault[] = []
  const effects = rows.map((row, index) => {
    try {
      return judge(row)
    } catch (error) {
      faults.push(faultOf(error, first + index))
      return 'refused'
    }
  })
  return { effects, faults }
}

/** @throws `error` itself if it is no Refusal. */
function faultOf(error: unknown, row: number): RowFault {
  if (!(error instanceof Refusal)) throw error
  return { row, code: error.code, message: error.message }
}

function add(total: ImportOutcome, { linked, moved, unchanged, refused, faults }: ImportOutcome): void {
  total.linked += linked
  total.moved += moved
  total.unchanged += unchanged
  total.refused += refused
  total.faults.push(...faults)
}
