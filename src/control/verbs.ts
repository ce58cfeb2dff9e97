/** The control verbs behind the CLI commands. Each validates its arguments; each write is one unit of work. */
import * as v from 'valibot'
import { type AuditAction, COMMAND_LINE } from '../access/audit.ts'
import { MAX_VALIDITY_MS } from '../access/grants.ts'
import type { Windfall } from '../app.ts'
import type { App } from '../apps/apps.ts'
import { AppUserId } from '../attribution/requests.ts'
import { isDay } from '../days.ts'
import { Refusal } from '../errors.ts'
import { instantSince } from '../ledger/history/since.ts'
import { HISTORY_DEPTH_MS } from '../ledger/history/windows.ts'
import { alertVerbs } from './alert_verbs.ts'
import { appVerbs } from './app_verbs.ts'
import { backupVerbs } from './backup_verbs.ts'
import { deviceVerbs } from './device_verbs.ts'
import { doctorVerbs } from './doctor_verbs.ts'
import { linkVerbs } from './link_verbs.ts'
import { outgoingVerbs } from './outgoing_verbs.ts'
import { ownerVerbs } from './owner_verbs.ts'
import { isReadOnly, type Verbs, verb } from './socket.ts'
import { userVerbs } from './user_verbs.ts'
import { webhookVerbs } from './webhook_verbs.ts'

const optionalSlug = v.optional(v.nullable(v.string()), null)
const text = v.pipe(v.string(), v.nonEmpty())

const CreateKey = v.object({
  organization: optionalSlug,
  kind: v.picklist(['publishable', 'secret']),
  label: text,
})
const RotateKey = v.object({
  id: text,
  overlap_ms: v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_VALIDITY_MS, 'must be at most 100 years')),
})
const ById = v.object({ id: text })
const RefusedById = v.object({ id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) })
const Reconcile = v.object({ since: v.nullable(text), app: v.nullable(text), organization: optionalSlug })
const NamedJob = v.object({ name: text })
const ShowRates = v.object({ currency: text, days: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) })
const ImportRates = v.object({ csv: v.string(), base: text })
const RemoveRate = v.object({
  currency: text,
  day: v.pipe(text, v.check(isDay, 'must be a date like 2026-01-31')),
})
const RunImport = v.object({
  organization: optionalSlug,
  days: v.optional(v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(400))), null),
})
const ErasedUser = v.object({ organization: optionalSlug, app: text, app_user_id: AppUserId })
const EraseUser = v.object({ ...ErasedUser.entries, even_unknown: v.boolean() })

/** All verbs by the name that is sent over the control socket. */
export function verbsOf(windfall: Windfall): Verbs {
  return acknowledging(windfall, {
    ...appVerbs(windfall),
    ...keyVerbs(windfall),
    ...ownerVerbs(windfall),
    ...refusedVerbs(windfall),
    ...historyVerbs(windfall),
    ...importVerbs(windfall),
    ...metricVerbs(windfall),
    ...jobVerbs(windfall),
    ...userVerbs(windfall),
    ...deviceVerbs(windfall),
    ...linkVerbs(windfall),
    ...forgetVerbs(windfall),
    ...backupVerbs(windfall.backups),
    ...doctorVerbs(windfall),
    ...outgoingVerbs(windfall),
    ...webhookVerbs(windfall),
    ...alertVerbs(windfall),
  })
}

/** The verbs, so that the store knows while one runs whose answer can acknowledge a write. */
const acknowledging = ({ store }: Pick<Windfall, 'store'>, verbs: Verbs): Verbs =>
  Object.fromEntries(
    Object.entries(verbs).map(([name, run]) => {
      async function runCounted(args: unknown): Promise<unknown> {
        const end = store.beginRequest('command')
        try {
          return await run(args)
        } finally {
          end()
        }
      }
      return [name, isReadOnly(name) ? run : runCounted]
    }),
  )

function keyVerbs({ store, keys, organizations, audit }: Windfall): Verbs {
  /** Changes a key and adds an audit entry, in one unit of work. */
  const audited = <Key extends { id: string; label: string }>(action: AuditAction, work: () => Key) =>
    store.commit(() => {
      const key = work()
      audit.note({ ...COMMAND_LINE, action, subject: key.id, detail: key.label })
      return key
    })

  return {
    'keys.create': verb(CreateKey, ({ organization, kind, label }) =>
      audited('key.made', () => keys.create(organizations.resolve(organization).id, kind, label)),
    ),
    'keys.list': verb(v.object({ organization: optionalSlug }), ({ organization }) => ({
      organizations: organizations.list(),
      keys: keys.list(organization === null ? null : organizations.resolve(organization).id),
    })),
    'keys.rotate': verb(RotateKey, ({ id, overlap_ms }) =>
      audited('key.rotated', () => keys.rotate(id, overlap_ms)),
    ),
    'keys.revoke': verb(ById, ({ id }) => audited('key.revoked', () => keys.revoke(id))),
  }
}

/** Refreshes the apps of one organization, or of every organization that has an App Store Connect key. */
function refusedVerbs({ arrivals: { refused } }: Windfall): Verbs {
  function readRefused({ id }: v.InferOutput<typeof RefusedById>) {
    const raw = refused.raw(id)
    if (raw !== null) return { id, raw }
    throw new Refusal(
      404,
      'unknown_refused',
      `there is no refused notification ${id}; windfall refused list shows them`,
    )
  }

  return {
    'refused.list': verb(v.object({}), () => ({ count: refused.count(), kept: refused.list() })),
    'refused.raw': verb(RefusedById, readRefused),
  }
}

function historyVerbs({ clock, apps, organizations, appleClients, history }: Windfall): Verbs {
  function findApps(bundle_id: string | null, organization: string | null): App[] {
    const organization_id = organization === null ? null : organizations.resolve(organization).id
    const matching = apps
      .list()
      .filter((app) => bundle_id === null || app.bundle_id === bundle_id)
      .filter((app) => organization_id === null || app.organization_id === organization_id)
    if (matching.length > 0 || bundle_id === null) return matching
    throw new Refusal(404, 'unknown_app', `${bundle_id} is not connected`)
  }

  async function reconcile({ since, app: bundle_id, organization }: v.InferOutput<typeof Reconcile>) {
    const from = since === null ? null : instantSince(since, clock())
    const matching = findApps(bundle_id, organization)
    const without_key = matching
      .filter((app) => appleClients.server(app) === null)
      .map((app) => app.bundle_id)
    const history_start = clock() - HISTORY_DEPTH_MS
    const compared = await history.reconcile({ since: from, apps: matching })
    return { compared, without_key, kept_since: from !== null && from < history_start ? history_start : null }
  }

  return { reconcile: verb(Reconcile, reconcile) }
}

function jobVerbs({ store, jobs, rates }: Windfall): Verbs {
  return {
    'jobs.list': verb(v.object({}), () => ({ jobs: jobs.list() })),
    'jobs.run': verb(NamedJob, ({ name }) => jobs.runNow(name)),
    'rates.list': verb(v.object({}), () => ({ currencies: rates.list() })),
    'rates.show': verb(ShowRates, ({ currency, days }) => ({ rates: rates.show(currency, days) })),
    'rates.remove': verb(RemoveRate, ({ currency, day }) => store.commit(() => rates.remove(currency, day))),
    'rates.import': verb(ImportRates, ({ csv, base }) => {
      const parsed = rates.readCsv(csv, base)
      return store.commit(() => rates.importRates(parsed))
    }),
  }
}

function metricVerbs({ metrics }: Windfall): Verbs {
  async function rebuild() {
    return { lineages: await metrics.rebuild() }
  }

  return {
    'metrics.rebuild': verb(v.object({}), rebuild),
    'metrics.status': verb(v.object({}), () => ({ progress: metrics.progress() })),
    'metrics.verify': verb(v.object({}), () => metrics.verify()),
    'verification.status': verb(v.object({}), () => ({ progress: metrics.verifyProgress() })),
  }
}

function forgetVerbs({ store, apps, organizations, erasures, audit }: Windfall): Verbs {
  function findAppId({ organization, app: name }: v.InferOutput<typeof ErasedUser>): string {
    const { id, slug: owner } = organizations.resolve(organization)
    const app = apps.ofOrganization(id, name)
    if (app) return app.id
    throw new Refusal(404, 'unknown_app', `${owner} has no app ${name}; windfall apps list shows them`)
  }

  /** Resolves once the erasure is complete. */
  async function forget({ app_user_id, even_unknown, ...matching }: v.InferOutput<typeof EraseUser>) {
    const app_id = findAppId({ ...matching, app_user_id })
    const request = { app_id, app_user_id, even_unknown, asked_by: 'command line' }
    const { id } = await store.commit(() => {
      const erasure = erasures.erase(request)
      audit.note({ ...COMMAND_LINE, action: 'user.forgotten', subject: erasure.id })
      return erasure
    })
    return erasures.finished(id)
  }

  return {
    'forget.user': verb(EraseUser, forget),
    'forget.lift': verb(ErasedUser, (query) =>
      store.commit(() => {
        audit.note({ ...COMMAND_LINE, action: 'user.forgetting_undone', subject: query.app })
        return erasures.lift(findAppId(query), query.app_user_id)
      }),
    ),
    'forget.list': verb(v.object({}), () => ({
      erasures: erasures.list({ organization_id: null, apps: null, limit: 1_000, before: null }),
    })),
    'forget.compact': verb(v.object({}), erasures.compact),
    'forget.status': verb(v.object({}), () => ({ progress: erasures.progress() })),
  }
}

function importVerbs({ organizations, accounts, catalogue, imports }: Windfall): Verbs {
  /**
   * Imports reports, or waits for an import that is already running; `joined` is then true. `imports.status` reports
   * the progress meanwhile.
   */
  async function runImport({ organization, days }: v.InferOutput<typeof RunImport>) {
    const organization_id = organization === null ? null : organizations.resolve(organization).id
    const isSelected = (id: string) => organization_id === null || id === organization_id
    if (!accounts.list().some((account) => isSelected(account.organization_id)))
      throw new Refusal(409, 'no_account', 'no Apple API keys are configured; run windfall connect')
    const joined = imports.progress() !== null
    if (!joined) await catalogue.refreshAll()
    const run = await imports.run({ organization_id, patient: true, ...(days !== null && { days }) })
    return { joined, run, organizations: organizations.list() }
  }

  return {
    'imports.run': verb(RunImport, runImport),
    'imports.status': verb(v.object({}), () => ({ progress: imports.progress() })),
  }
}
