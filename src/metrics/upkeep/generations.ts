/** Stores the generations of an organization’s figures: the shown one, and the next one while it is built. */
import type { Apps } from '../../apps/apps.ts'
import type { Organization, Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { Factors } from '../lineage/months.ts'
import type { Measure } from '../lineage/rows.ts'

/** The version of this program’s formulas. Increase it when a change of code gives other figures for the same facts. */
export const FORMULA = 5
/** The first version of the formulas that stores proceeds in rows and sums, and first payments after trials. */
const PROCEEDS_SINCE = 4

/** The settings of a generation; a change of any of them gives other figures. */
export type CountedBy = { time_zone: string; currency: string; factors: Factors; formula: number }

/**
 * All figures of an organization for one set of settings. `made_up_to`: the number of the last lineage that a generation
 * being built contains. Lineages with a higher number are due without a mark. It is null in the shown generation, where
 * only marked lineages are due. `stood_still_at`: the instant from which new facts no longer update the generation,
 * because the program has other formulas.
 */
export type Generation = CountedBy & {
  id: number
  organization_id: string
  state: 'shown' | 'making' | 'dropped'
  made_up_to: number | null
  started_at: number
  stood_still_at: number | null
}

/** A new generation. */
type NewGeneration = Omit<Generation, 'id' | 'stood_still_at'>

/** Whether a generation has proceeds; one that an earlier version computed has none until it is recomputed. */
export const hasProceeds = ({ formula }: Pick<CountedBy, 'formula'>): boolean => formula >= PROCEEDS_SINCE

/**
 * The measure that a generation stores for a measure. Earlier versions counted won trials as the first payments after trials,
 * so that the former figures are shown until they are recomputed.
 */
export const storedMeasure = (measure: Measure, generation: Pick<CountedBy, 'formula'>): Measure =>
  measure === 'paid.after_trial' && !hasProceeds(generation) ? 'trial.won' : measure

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  organizations: Organizations
  factors: Factors
  formula?: number
}

export type Generations = ReturnType<typeof openGenerations>

export function openGenerations({ store, clock, apps, organizations, factors, formula = FORMULA }: Deps) {
  const inUse = store.prepare<[], Generation>(
    "select * from metric_generations where state <> 'dropped' order by state desc, id",
  )
  const dropped = store.prepare<[], Generation>(
    "select * from metric_generations where state = 'dropped' order by id",
  )
  // Ids are never reused, because sums under an old id may still be cached in memory.
  const insert = store.prepare<NewGeneration>(`
    insert into metric_generations ( organization_id,  state,  time_zone,  currency,  factors,  formula,  made_up_to,  started_at)
    values                         (:organization_id, :state, :time_zone, :currency, :factors, :formula, :made_up_to, :started_at)`)
  const advance = store.prepare<[number, number]>('update metric_generations set made_up_to = ? where id = ?')
  const show = store.prepare<[number]>(
    "update metric_generations set state = 'shown', made_up_to = null where id = ?",
  )
  const drop = store.prepare<[number]>("update metric_generations set state = 'dropped' where id = ?")
  const freezeRow = store.prepare<[number, number]>(
    'update metric_generations set stood_still_at = ? where id = ? and stood_still_at is null',
  )
  const remove = store.prepare<[number]>('delete from metric_generations where id = ?')
  const cachedInUse = store.cached(['metric_generations'], () => inUse.all())
  const readerCounts = new Map<number, number>()
  /** Generations dropped in the current batch, which is not committed yet and may still write to them. */
  const justDropped = new Set<number>()

  const find = (organization_id: string, state: Generation['state']): Generation | null =>
    cachedInUse('').find((one) => one.organization_id === organization_id && one.state === state) ?? null

  /** The current settings of an organization’s figures. */
  const targetSettings = ({
    time_zone,
    currency,
  }: Pick<Organization, 'time_zone' | 'currency'>): CountedBy => ({ time_zone, currency, factors, formula })

  /** The shown generation. For an organization without figures, an empty one with id 0. */
  function shown(organization_id: string): Generation {
    const found = find(organization_id, 'shown')
    if (found) return found
    const organization = organizations.get(organization_id) ?? { time_zone: 'UTC', currency: 'USD' }
    const state = { state: 'shown', made_up_to: null, started_at: 0, stood_still_at: null } as const
    return { id: 0, organization_id, ...targetSettings(organization), ...state }
  }

  /** The shown generation of an app’s organization; null for an app that does not exist. */
  function shownOf(app_id: string): Generation | null {
    const app = apps.get(app_id)
    return app && shown(app.organization_id)
  }

  /** The generation being built; null if no generation is being built. */
  const making = (organization_id: string): Generation | null => find(organization_id, 'making')

  /** The shown generation of an organization, then the generation being built, if they exist. */
  const ofOrganization = (organization_id: string): Generation[] =>
    [find(organization_id, 'shown'), making(organization_id)].filter((one) => one !== null)

  const insertGeneration = (of: NewGeneration): Generation => ({
    ...of,
    id: Number(insert.run(of).lastInsertRowid),
    stood_still_at: null,
  })

  /** Creates the first generation of an organization, which is shown immediately. Runs inside a unit of work. */
  function ensureShown(organization: Organization): { generation: Generation; is_new: boolean } {
    const existing = find(organization.id, 'shown')
    if (existing) return { generation: existing, is_new: false }
    const state = { state: 'shown', made_up_to: null, started_at: clock() } as const
    return {
      generation: insertGeneration({
        organization_id: organization.id,
        ...targetSettings(organization),
        ...state,
      }),
      is_new: true,
    }
  }

  /** Begins the next generation of an organization, and drops an unfinished one. Runs inside a unit of work. */
  function begin(organization: Organization): Generation {
    abandon(organization.id)
    const state = { state: 'making', made_up_to: 0, started_at: clock() } as const
    return insertGeneration({ organization_id: organization.id, ...targetSettings(organization), ...state })
  }

  /** Drops the generation being built. Runs inside a unit of work. */
  function abandon(organization_id: string): void {
    const next = making(organization_id)
    if (next) markDropped(next.id)
  }

  function markDropped(id: number): void {
    drop.run(id)
    justDropped.add(id)
    store.afterCommit(() => void justDropped.delete(id))
  }

  /** Shows a complete generation and drops the previously shown generation. Runs inside a unit of work. */
  function publish({ id, organization_id }: Generation): void {
    markDropped(shown(organization_id).id)
    show.run(id)
  }

  /** Whether new facts update a generation. False once a program with other formulas has run. */
  const isLive = (generation: Generation): boolean =>
    generation.formula === formula && generation.stood_still_at === null

  /** Freezes a generation if the program has other formulas: new facts no longer update it. Runs inside a unit of work. */
  function freeze(generation: Generation): void {
    if (generation.formula !== formula) freezeRow.run(clock(), generation.id)
  }

  /** Whether new facts update a generation and its settings are the organization’s current settings. */
  function isUpToDate(generation: Generation, organization: Organization): boolean {
    const target = targetSettings(organization)
    if (!isLive(generation)) return false
    return (['time_zone', 'currency', 'factors', 'formula'] as const).every(
      (name) => generation[name] === target[name],
    )
  }

  /** Runs `read`, which may take several turns of the event loop. Until it ends, no row of the generation is deleted. */
  async function withHold<Found>({ id }: Generation, read: () => Promise<Found>): Promise<Found> {
    readerCounts.set(id, (readerCounts.get(id) ?? 0) + 1)
    try {
      return await read()
    } finally {
      const left = (readerCounts.get(id) ?? 1) - 1
      if (left > 0) readerCounts.set(id, left)
      else readerCounts.delete(id)
    }
  }

  /** Dropped generations without readers. */
  const unreferenced = (): Generation[] =>
    dropped.all().filter(({ id }) => !readerCounts.has(id) && !justDropped.has(id))

  return {
    shown,
    shownOf,
    making,
    ofOrganization,
    ensureShown,
    begin,
    abandon,
    publish,
    isLive,
    isUpToDate,
    freeze,
    withHold,
    unreferenced,
    /** The generation with this id, if it is shown or being built. */
    byId: (id: number): Generation | null => cachedInUse('').find((one) => one.id === id) ?? null,
    /** All generations that are shown or being built. */
    all: (): readonly Generation[] => cachedInUse(''),
    /** Stores the number of the last lineage that a generation contains. Runs inside a unit of work. */
    advanceTo: (id: number, lineage_id: number): void => void advance.run(lineage_id, id),
    /** Deletes the row of a dropped generation, after all its data. Runs inside a unit of work. */
    removeRow: (id: number): void => void remove.run(id),
  }
}
