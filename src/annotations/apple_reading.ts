/** Reads the versions and prices of all apps from App Store Connect, and stores what is new as annotations. */
import type { ConnectApi } from '../apple/api/connect.ts'
import { AppleFault, type FaultKind } from '../apple/api/faults.ts'
import type { AppleClients } from '../apps/apple_clients.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Organization, Organizations } from '../apps/organizations.ts'
import type { Products } from '../apps/products.ts'
import type { Clock } from '../clock.ts'
import { dayText, openCalendar } from '../metrics/lineage/calendar.ts'
import type { Store } from '../store/store.ts'
import { priceNotes, versionNotes } from './apple_notes.ts'
import { type Listed, openAppleRecords, SUBJECTS, type Subject } from './apple_records.ts'

/** Within this time of the previous read, a new version counts as released on the day of the read. */
const RECENT_MS = 2 * 86_400_000

/** Faults of one app or product: the others are still read. */
const SINGLE_FAULTS: ReadonlySet<FaultKind> = new Set(['not_found', 'refused', 'unreadable'])

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  organizations: Organizations
  products: Products
  appleClients: AppleClients
}
/** The app whose lists are read, and with which API. */
type Target = { app: App; organization: Organization; api: ConnectApi }
type Outcome = { added: number; refused: number }

export type AppleReading = ReturnType<typeof openAppleReading>

/** Opens reading versions and prices. */
export function openAppleReading({ store, clock, apps, organizations, products, appleClients }: Deps) {
  const records = openAppleRecords(store, clock)
  const readNotes = openReaders({ clock, products, records })

  /** Reads one subject of one app. Returns the number of new notes, or Apple's refusal. @throws AppleFault. */
  async function readSubject(what: Subject, target: Target): Promise<number | FaultKind> {
    const { app, organization } = target
    try {
      const listed = await readNotes[what](target)
      const today = dayText(openCalendar(organization.time_zone).dayOf(clock()))
      return await store.commit(() => records.noteRead(app, what, listed, today))
    } catch (error) {
      if (!(error instanceof AppleFault) || (error.kind !== 'forbidden' && !SINGLE_FAULTS.has(error.kind)))
        throw error
      await store.commit(() => records.noteRefusal(app.id, what, error.message))
      return error.kind
    }
  }

  async function readOrganization(
    what: Subject,
    { organization, api }: Omit<Target, 'app'>,
    { signal, outcome }: { signal: AbortSignal; outcome: Outcome },
  ): Promise<void> {
    for (const app of apps.list().filter(({ organization_id }) => organization_id === organization.id)) {
      if (signal.aborted) return
      const result = await readSubject(what, { app, organization, api })
      if (typeof result === 'number') outcome.added += result
      else outcome.refused += 1
      if (result === 'forbidden') return
    }
  }

  /**
   * Reads the versions and prices of every connected app, and returns the outcome as text. After a refusal that concerns
   * the key, the organization's other apps are not asked for.
   *
   * @throws AppleFault if Apple is unavailable or refuses the key; what was read before is stored.
   */
  async function read(signal: AbortSignal): Promise<string> {
    const outcome = { added: 0, refused: 0 }
    for (const organization of organizations.list()) {
      const api = appleClients.connect(organization.id)
      if (api === null) continue
      for (const what of SUBJECTS) await readOrganization(what, { organization, api }, { signal, outcome })
    }
    return describe(outcome)
  }

  return { read, reads: records.reads }
}

type ReaderDeps = Pick<Deps, 'clock' | 'products'> & { records: ReturnType<typeof openAppleRecords> }

/** Opens the functions that ask Apple about an app and return the notes. They throw AppleFault. */
function openReaders({ clock, products, records }: ReaderDeps) {
  async function versions({ app, organization, api }: Target): Promise<Listed> {
    if (app.apple_id === null) return { notes: [], isWhole: true }
    const listed = await api.versions(app.apple_id)
    const calendar = openCalendar(organization.time_zone)
    const dayOf = (at: number): string => dayText(calendar.dayOf(at))
    const previous_at = records.readAt(app.id, 'versions')
    const isRecent = previous_at !== null && clock() - previous_at < RECENT_MS
    const reading = { today: dayOf(clock()), isRecent, dayOf }
    return { notes: versionNotes(listed, records.knownKeys(app.id), reading), isWhole: true }
  }

  async function prices({ app, organization, api }: Target): Promise<Listed> {
    const listing: Listed = { notes: [], isWhole: true }
    for (const product of products.list(app.id)) {
      if (product.gone_at !== null || product.apple_id === null) continue
      const listed = await api.prices(product.apple_id).catch(nullOnSingleFault)
      if (listed === null) listing.isWhole = false
      else listing.notes.push(...priceNotes(product, listed, organization.currency))
    }
    return listing
  }

  return { versions, prices }
}

function nullOnSingleFault(error: unknown): null {
  if (error instanceof AppleFault && SINGLE_FAULTS.has(error.kind)) return null
  throw error
}

const describe = ({ added, refused }: Outcome): string => {
  const text = added === 1 ? '1 annotation added' : `${added} annotations added`
  return refused === 0 ? text : `${text}, Apple refused ${refused === 1 ? 'a list' : `${refused} lists`}`
}
