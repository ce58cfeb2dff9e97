/** Stores the generations of an organization’s figures: the shown one, and the next one while it is built. */
import type { Apps } from '../../apps/apps.ts'
import type { Organization, Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { Factors } from '../lineage/months.ts'

/** The version of this program’s formulas. Raise it when the same facts give other figures. */
export const FORMULA = 1

/** The settings of a generation; a change of any of them gives other figures. */
export type CountedBy = { time_zone: string; currency: string; factors: Factors; formula: number }

/**
 * All figures of an organization for one set of settings. `made_up_to`: in a generation being built, the last lineage
 * it contains; those above are due without marks. null in the shown one, whose lineages are due by their marks. From
 * `stood_still_at` on it does not follow facts, because the program has other formulas.
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
type Begun = Omit<Generation, 'id' | 'stood_still_at'>

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
  // Ids are never reused: sums of an old id may still be in memory.
  const insert = store.prepare<Begun>(`
    insert into metric_generations ( organization_id,  state,  time_zone,  currency,  factors,  formula,  made_up_to,  started_at)
    values                         (:organization_id, :state, :time_zone, :currency, :factors, :formula, :made_up_to, :started_at)`)
  const advance = store.prepare<[number, number]>('update metric_generations set made_up_to = ? where id = ?')
  const show = store.prepare<[number]>(
    "update metric_generations set state = 'shown', made_up_to = null where id = ?",
  )
  const drop = store.prepare<[number]>("update metric_generations set state = 'dropped' where id = ?")
  const stop = store.prepare<[number, number]>(
    'update metric_generations set stood_still_at = ? where id = ? and stood_still_at is null',
  )
  const remove = store.prepare<[number]>('delete from metric_generations where id = ?')
  const known = store.cached(['metric_generations'], () => inUse.all())
  const readers = new Map<number, number>()
  /** Generations dropped in a batch that is not committed yet and may still write to them. */
  const justDropped = new Set<number>()

  const find = (organization_id: string, state: Generation['state']): Generation | null =>
    known('').find((one) => one.organization_id === organization_id && one.state === state) ?? null

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

  /** The generation being built; null where none is. */
  const making = (organization_id: string): Generation | null => find(organization_id, 'making')

  /** All generations of an organization that follow its facts, the shown one first. */
  const ofOrganization = (organization_id: string): Generation[] =>
    [find(organization_id, 'shown'), making(organization_id)].filter((one) => one !== null)

  const insertGeneration = (of: Begun): Generation => ({
    ...of,
    id: Number(insert.run(of).lastInsertRowid),
    stood_still_at: null,
  })

  /** Creates the first generation of an organization, which is shown immediately. Runs inside a unit of work. */
  function ensureShown(organization: Organization): { generation: Generation; is_new: boolean } {
    const there = find(organization.id, 'shown')
    if (there) return { generation: there, is_new: false }
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

  /** Begins the next generation of an organization and drops one that was being built. Runs inside a unit of work. */
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

  /** Shows the generation that was built and drops the previous one. Runs inside a unit of work. */
  function publish({ id, organization_id }: Generation): void {
    markDropped(shown(organization_id).id)
    show.run(id)
  }

  /** Whether a generation follows its facts: not if the program has, or had meanwhile, other formulas. */
  const isLive = (generation: Generation): boolean =>
    generation.formula === formula && generation.stood_still_at === null

  /** Freezes a generation of other formulas, which misses facts from now on. Runs inside a unit of work. */
  function freeze(generation: Generation): void {
    if (generation.formula !== formula) stop.run(clock(), generation.id)
  }

  /** Whether a generation follows its facts and has its organization’s current settings. */
  function isUpToDate(generation: Generation, organization: Organization): boolean {
    const target = targetSettings(organization)
    if (!isLive(generation)) return false
    return (['time_zone', 'currency', 'factors', 'formula'] as const).every(
      (name) => generation[name] === target[name],
    )
  }

  /** Runs `read` over several turns of the event loop; nothing of the generation is deleted until it ends. */
  async function withHold<Found>({ id }: Generation, read: () => Promise<Found>): Promise<Found> {
    readers.set(id, (readers.get(id) ?? 0) + 1)
    try {
      return await read()
    } finally {
      const left = (readers.get(id) ?? 1) - 1
      if (left > 0) readers.set(id, left)
      else readers.delete(id)
    }
  }

  /** Dropped generations without readers. */
  const unreferenced = (): Generation[] =>
    dropped.all().filter(({ id }) => !readers.has(id) && !justDropped.has(id))

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
    /** The generation with an id, if it is shown or being built. */
    byId: (id: number): Generation | null => known('').find((one) => one.id === id) ?? null,
    /** All generations that are shown or being built. */
    all: (): readonly Generation[] => known(''),
    /** Stores the last lineage that a generation contains. Runs inside a unit of work. */
    advanceTo: (id: number, lineage_id: number): void => void advance.run(lineage_id, id),
    /** Deletes a dropped generation whose data is deleted. Runs inside a unit of work. */
    removeRow: (id: number): void => void remove.run(id),
  }
}
