/** `/api/v1/apple-keys` and `/api/v1/vendor-numbers`: Apple's API keys from the dashboard. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../../access/audit.ts'
import type { Auth } from '../../../access/auth.ts'
import type { Accounts } from '../../../apps/accounts.ts'
import type { AppleClients } from '../../../apps/apple_clients.ts'
import type { Apps } from '../../../apps/apps.ts'
import type { Catalogue } from '../../../apps/catalogue.ts'
import type { Organization, Organizations } from '../../../apps/organizations.ts'
import type { AppleKeyKind, StoredKeys } from '../../../apps/stored_keys.ts'
import { faultOfVendorNumber, faultOfVendors } from '../../../doctor/apple/key_answers.ts'
import { Refusal } from '../../../errors.ts'
import { invalid } from '../../../http/parse.ts'
import { defineRoute, type Route } from '../../../http/route.ts'
import { restartFetching } from '../../../jobs/fetching.ts'
import type { Jobs } from '../../../jobs/jobs.ts'
import { AppAnswer } from '../../apps.ts'
import { defineList } from '../../lists.ts'
import { openOrganizationLookup } from '../../lookup.ts'
import { OWNER_ROUTE } from '../../route_defaults.ts'
import {
  type AppleDeps,
  appsOfTriedKey,
  enteredKey,
  KeyBody,
  organization_id,
  queryOptions,
  refusalOf,
} from './entered_keys.ts'

const KINDS = ['connect', 'purchases'] as const
const KIND_NAMES = { connect: 'App Store Connect API key', purchases: 'In-App Purchase key' }
const MAX_VENDORS = 50

const KeyPath = v.object({
  kind: v.pipe(
    v.picklist(KINDS),
    v.description('connect: the App Store Connect API key; purchases: the In-App Purchase key'),
  ),
})
const OrganizationQuery = v.object({ organization_id })
const VendorsBody = v.strictObject({
  organization_id,
  vendor_numbers: v.pipe(
    v.array(v.pipe(v.string(), v.trim(), v.maxLength(100))),
    v.maxLength(MAX_VENDORS, `must have at most ${MAX_VENDORS} numbers`),
  ),
})
const nullableText = v.nullable(v.string())
const AppleKeyAnswer = v.object({
  organization_id: v.string(),
  kind: v.picklist(KINDS),
  source: v.pipe(
    v.picklist(['none', 'config', 'dashboard']),
    v.description('config: config.toml or a variable declares it; then it cannot be changed here'),
  ),
  key_id: nullableText,
  issuer_id: nullableText,
  state: v.pipe(
    v.picklist(['none', 'unknown', 'ok', 'refused', 'unreadable']),
    v.description('Apple’s last answer to the key. unreadable: it was sealed with another windfall.key'),
  ),
  why: nullableText,
})
export const AppleKeysAnswer = v.object({
  keys: v.array(AppleKeyAnswer),
  vendors: v.array(
    v.object({
      organization_id: v.string(),
      vendor_numbers: v.array(v.string()),
      source: v.picklist(['none', 'config', 'dashboard']),
    }),
  ),
})
export const StoredKeyAnswer = v.object({
  key: AppleKeyAnswer,
  apps: v.pipe(v.array(AppAnswer), v.description('The connected apps of the organization')),
})
const VendorsAnswer = v.object({ organization_id: v.string(), vendor_numbers: v.array(v.string()) })

type Deps = AppleDeps & {
  accounts: Accounts
  storedKeys: StoredKeys
  appleClients: Pick<AppleClients, 'keyStatus' | 'noteAccepted'>
  apps: Apps
  catalogue: Pick<Catalogue, 'connectListed'>
  organizations: Organizations
  jobs: Pick<Jobs, 'runNow' | 'hasten'>
  audit: Audit
  auth: Auth
}

const STORING_ERRORS = {
  403: 'reauthentication_required',
  404: 'unknown_organization',
  502: 'apple',
} as const

export const appleKeyRoutes = (deps: Deps): Route[] => [
  ...listRoutes(deps),
  storingRoute(deps),
  vendorsRoute(deps),
  removalRoute(deps),
]

/** @throws Refusal 409 `declared_in_config` if config.toml declares what `kind` names. */
function refuseDeclared({ accounts }: Deps, { id, slug }: Organization, kind: AppleKeyKind): void {
  if (!accounts.declaredFor(id)?.[kind]) return
  const detail = `config.toml declares the ${KIND_NAMES[kind]} of ${slug}; change it there`
  throw new Refusal(409, 'declared_in_config', detail)
}

function openKeyStates({ accounts, appleClients }: Deps) {
  return function stateOf(organization_id: string, kind: AppleKeyKind): v.InferOutput<typeof AppleKeyAnswer> {
    const key = accounts.forOrganization(organization_id)?.[kind] ?? null
    const isUnreadable = accounts
      .unreadable()
      .some((one) => one.organization_id === organization_id && one.kind === kind)
    const isDeclared = Boolean(accounts.declaredFor(organization_id)?.[kind])
    const { state, why } = appleClients.keyStatus(key)
    return {
      organization_id,
      kind,
      source: isDeclared ? 'config' : key !== null || isUnreadable ? 'dashboard' : 'none',
      key_id: key?.key_id ?? null,
      issuer_id: key?.issuer_id ?? null,
      state: isUnreadable ? 'unreadable' : state,
      why,
    }
  }
}

function listRoutes(deps: Deps): Route[] {
  const { accounts, organizations, auth } = deps
  const stateOf = openKeyStates(deps)

  function vendorsOf(organization_id: string) {
    const vendor_numbers = [...(accounts.forOrganization(organization_id)?.vendor_numbers ?? [])]
    const isDeclared = accounts.declaredFor(organization_id)?.connect
    const source = isDeclared ? 'config' : vendor_numbers.length > 0 ? 'dashboard' : 'none'
    return { organization_id, vendor_numbers, source } as const
  }

  return defineList(auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/apple-keys',
    summary: 'Lists both keys of each organization with their source, without the private keys',
    access: auth.owner,
    answer: { description: 'Two keys for each organization', schema: AppleKeysAnswer },
    read(): v.InferOutput<typeof AppleKeysAnswer> {
      const ids = organizations.list().map(({ id }) => id)
      return {
        keys: ids.flatMap((id) => KINDS.map((kind) => stateOf(id, kind))),
        vendors: ids.map(vendorsOf),
      }
    },
  })
}

function storingRoute(deps: Deps): Route {
  const { accounts, appleClients, storedKeys, apps, catalogue, organizations, jobs, audit, auth } = deps
  const findOrganization = openOrganizationLookup(organizations)
  const stateOf = openKeyStates(deps)
  const appsOf = (id: string) => apps.list().filter(({ organization_id }) => organization_id === id)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/apple-keys/:kind',
    summary: 'Tries a key with Apple and stores it sealed; connects the apps that it lists',
    description: 'Stores nothing unless Apple accepts the key.',
    access: auth.freshOwner,
    params: KeyPath,
    body: KeyBody,
    answers: { 201: { description: 'The key is stored', schema: StoredKeyAnswer } },
    refusals: {
      ...STORING_ERRORS,
      400: 'organization_needed',
      409: 'declared_in_config, refused_by_apple, no_app, key_unreadable',
    },
    async handler({ event, params: { kind }, body }): Promise<v.InferOutput<typeof StoredKeyAnswer>> {
      // The request to Apple reveals whether a key works, and the body may have taken long to arrive.
      auth.freshOwner.admit(event)
      const organization = findOrganization(body.organization_id)
      const { id } = organization
      refuseDeclared(deps, organization, kind)
      const key = enteredKey(kind, body, accounts.forOrganization(id)?.connect ?? null)
      const bundles = appsOf(id).map(({ bundle_id }) => bundle_id)
      const listed = await appsOfTriedKey(kind, key, queryOptions(deps), bundles)
      await auth.commitAs(event, auth.freshOwner, (actor) => {
        // While Apple answered, a reload may have declared the key or removed the organization.
        refuseDeclared(deps, findOrganization(id), kind)
        storedKeys.put(id, kind, key)
        audit.note({ ...actor, action: 'apple_key.stored', subject: id, detail: `${kind} ${key.key_id}` })
      })
      accounts.adopt(storedKeys.list())
      appleClients.noteAccepted(key)
      await catalogue.connectListed(id, listed)
      restartFetching(jobs)
      event.res.status = 201
      return { key: stateOf(id, kind), apps: appsOf(id) }
    },
  })
}

function vendorsRoute(deps: Deps): Route {
  const { accounts, storedKeys, organizations, jobs, audit, auth } = deps
  const findOrganization = openOrganizationLookup(organizations)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/vendor-numbers',
    summary: 'Tries vendor numbers with the App Store Connect API key and stores them in place of the others',
    access: auth.freshOwner,
    body: VendorsBody,
    answers: { 200: { description: 'The stored numbers', schema: VendorsAnswer } },
    refusals: {
      ...STORING_ERRORS,
      400: 'organization_needed',
      409: 'declared_in_config, no_connect_key, refused_by_apple',
    },
    async handler({ event, body }): Promise<v.InferOutput<typeof VendorsAnswer>> {
      auth.freshOwner.admit(event)
      const organization = findOrganization(body.organization_id)
      const { id } = organization
      refuseDeclared(deps, organization, 'connect')
      const vendor_numbers = [...new Set(body.vendor_numbers)]
      const faults = vendor_numbers.flatMap((number) => faultOfVendorNumber(number) ?? [])
      if (faults.length > 0) throw invalid(faults.map((message) => ({ path: 'vendor_numbers', message })))
      const key = connectKeyOf(accounts, id)
      const fault = await faultOfVendors(vendor_numbers, key, queryOptions(deps))
      if (fault !== null) throw refusalOf({ message: fault.text, isRefused: fault.isRefused })
      await auth.commitAs(event, auth.freshOwner, (actor) => {
        // While Apple answered, the key may have been declared or removed.
        refuseDeclared(deps, findOrganization(id), 'connect')
        connectKeyOf(accounts, id)
        storedKeys.setVendors(id, vendor_numbers)
        const detail = vendor_numbers.join(', ')
        audit.note({ ...actor, action: 'apple_vendors.stored', subject: id, detail })
      })
      accounts.adopt(storedKeys.list())
      restartFetching(jobs)
      return { organization_id: id, vendor_numbers }
    },
  })
}

/** @throws Refusal 409 `no_connect_key` */
function connectKeyOf(accounts: Accounts, organization_id: string) {
  const key = accounts.forOrganization(organization_id)?.connect
  if (key) return key
  throw new Refusal(409, 'no_connect_key', 'enter the App Store Connect API key first')
}

function removalRoute(deps: Deps): Route {
  const { accounts, storedKeys, organizations, jobs, audit, auth } = deps
  const findOrganization = openOrganizationLookup(organizations)

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'DELETE',
    path: '/api/v1/apple-keys/:kind',
    summary: 'Deletes a stored key; the vendor numbers go with the App Store Connect API key',
    access: auth.owner,
    params: KeyPath,
    query: OrganizationQuery,
    answers: { 204: { description: 'The key is deleted' } },
    refusals: {
      400: 'organization_needed',
      404: 'unknown_organization, unknown_apple_key',
      409: 'declared_in_config',
    },
    async handler({ event, params: { kind }, query }) {
      const organization = findOrganization(query.organization_id)
      refuseDeclared(deps, organization, kind)
      await auth.commitAs(event, auth.owner, (actor) => {
        if (!storedKeys.remove(organization.id, kind))
          throw new Refusal(
            404,
            'unknown_apple_key',
            `no ${KIND_NAMES[kind]} is stored for ${organization.slug}`,
          )
        audit.note({ ...actor, action: 'apple_key.removed', subject: organization.id, detail: kind })
      })
      accounts.adopt(storedKeys.list())
      jobs.hasten('checks')
    },
  })
}
