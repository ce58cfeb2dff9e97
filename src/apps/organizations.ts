/** Organizations. Their data is separate: a unit of work concerns one organization. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Store } from '../store/store.ts'

type SdkAuth = 'any' | 'key' | 'attestation'

export type Organization = {
  id: string
  slug: string
  name: string
  /** The credentials that the SDK endpoints require. */
  sdk_auth: SdkAuth
  time_zone: string
  currency: string
  source: string
  created_at: number
  gone_at: number | null
  /** Where the time zone is set. none: nobody chose one, and it is UTC. */
  time_zone_source: 'none' | 'config' | 'dashboard'
}

/** `time_zone`: null for the one that was chosen in the dashboard. */
type OrganizationDeclaration = Pick<Organization, 'slug' | 'name' | 'sdk_auth' | 'currency'> & {
  time_zone: string | null
}

export type Organizations = ReturnType<typeof openOrganizations>

const FIRST_START = 'first start'
/** The name of an organization that nobody named. */
export const UNNAMED = 'Default'
const DEFAULT: OrganizationDeclaration = {
  slug: 'default',
  name: UNNAMED,
  sdk_auth: 'any',
  time_zone: null,
  currency: 'USD',
}

/** Opens the organizations. */
export function openOrganizations(store: Store, clock: Clock) {
  const selectAll = store.prepare<[], Organization>('select * from organizations order by created_at, slug')
  const byId = store.prepare<[string], Organization>('select * from organizations where id = ?')
  const bySlug = store.prepare<[string], Organization>('select * from organizations where slug = ?')
  const upsert = store.prepare<Organization>(`
    insert into organizations ( id,  slug,  name,  sdk_auth,  time_zone,  time_zone_source,  currency,  source,  created_at,  gone_at)
    values                    (:id, :slug, :name, :sdk_auth, :time_zone, :time_zone_source, :currency, :source, :created_at, :gone_at)
    on conflict (slug) do update set
      name = excluded.name, sdk_auth = excluded.sdk_auth, time_zone = excluded.time_zone,
      time_zone_source = excluded.time_zone_source, currency = excluded.currency, source = excluded.source, gone_at = null`)
  const updateSlug = store.prepare<[string, string]>('update organizations set slug = ? where id = ?')
  const markGone = store.prepare<[number, string]>('update organizations set gone_at = ? where id = ?')

  /** All organizations that are not gone, oldest first. */
  const list = (): Organization[] => selectAll.all().filter((organization) => organization.gone_at === null)

  /** The organization with this id, gone or not. */
  const get = store.cached(['organizations'], (id): Organization | null => byId.get(id) ?? null)

  const resolve = (slug: string | null): Organization => resolveAmong(list(), slug)

  /** The organization with this slug, gone or not. */
  const findBySlug = (slug: string): Organization | null => bySlug.get(slug) ?? null

  /** The organization that the first start created; null if config.toml has since declared it, or it is gone. */
  const firstStartOrganization = (): Organization | null =>
    list().find(({ source }) => source === FIRST_START) ?? null

  /** Changes the slug of an organization; its id and its data stay. */
  const rename = (id: string, slug: string): void => void updateSlug.run(slug, id)

  /** Marks an organization as gone; its data stays on disk. */
  const drop = (id: string): void => void markGone.run(clock(), id)

  /** Stores the declared organizations, and marks those that config.toml no longer declares as gone. */
  function declare(declarations: readonly OrganizationDeclaration[]): void {
    for (const declaration of declarations) write(declaration, 'config')
    const declared = new Set(declarations.map((declaration) => declaration.slug))
    for (const organization of list()) {
      if (organization.source === 'config' && !declared.has(organization.slug)) drop(organization.id)
    }
    if (list().length === 0) write(DEFAULT, FIRST_START)
  }

  function write(declaration: OrganizationDeclaration, source: string): void {
    const known = bySlug.get(declaration.slug)
    const id = known?.id ?? newId('org')
    const own = { ...declaration, ...zoneOf(declaration, known) }
    upsert.run({ ...own, id, source, created_at: clock(), gone_at: null })
  }

  return {
    list,
    get,
    findBySlug,
    firstStartOrganization,
    rename,
    drop,
    resolve,
    declare,
    setTimeZone: openTimeZones(store),
  }
}

/**
 * The organization with this slug among those that are `present`; for null, the only one.
 *
 * @throws Refusal 404 `unknown_organization`; 400 `organization_needed` if there are several.
 */
export function resolveAmong<Present extends Pick<Organization, 'slug'>>(
  present: readonly Present[],
  slug: string | null,
): Present {
  const [only, second] = present
  if (slug === null) {
    if (only && !second) return only
    throw new Refusal(400, 'organization_needed', `specify an organization: ${slugs(present)}`)
  }
  const found = present.find((organization) => organization.slug === slug)
  if (found) return found
  throw new Refusal(404, 'unknown_organization', `there is no organization ${slug}: ${slugs(present)}`)
}

/**
 * Returns the function that stores the time zone that the owner chose. The days of all charts move: the caller lets the
 * figures be counted again.
 *
 * @throws Refusal 409 `declared_in_config` if config.toml sets it
 */
function openTimeZones(store: Pick<Store, 'prepare'>) {
  const update = store.prepare<[string, string]>(
    "update organizations set time_zone = ?, time_zone_source = 'dashboard' where id = ?",
  )
  return ({ id, time_zone_source }: Organization, time_zone: string): void => {
    if (time_zone_source === 'config')
      throw new Refusal(409, 'declared_in_config', 'config.toml sets this time zone; change it there')
    update.run(time_zone, id)
  }
}

/** config.toml goes before the dashboard. A zone that config.toml does not set any more stays until another is chosen. */
function zoneOf(
  { time_zone }: OrganizationDeclaration,
  known: Organization | undefined,
): Pick<Organization, 'time_zone' | 'time_zone_source'> {
  if (time_zone !== null) return { time_zone, time_zone_source: 'config' }
  if (known === undefined || known.time_zone_source === 'none')
    return { time_zone: known?.time_zone ?? 'UTC', time_zone_source: 'none' }
  return { time_zone: known.time_zone, time_zone_source: 'dashboard' }
}

const slugs = (organizations: readonly Pick<Organization, 'slug'>[]): string =>
  organizations.map((organization) => organization.slug).join(', ')
