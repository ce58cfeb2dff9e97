/** Applies the endpoints that config.toml declares. Their secrets stay in memory. */
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Config } from '../../config/settings.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import type { Results } from '../sending/results.ts'
import { freshProgress } from '../sending/states.ts'
import { type AdministrationDeps, DECLARED, disableUnreadable } from './administration.ts'
import type { Endpoint, EndpointKind } from './endpoints.ts'
import { NEWEST_DEFAULT_SET } from './matching.ts'
import type { DeclaredSecrets } from './secrets.ts'

type Declared = Config['endpoints'][number]
type Deps = AdministrationDeps & {
  organizations: Organizations
  apps: Apps
  results: Pick<Results, 'disable'>
  log: Log
}

/** Opens the declarations of endpoints. */
export function openDeclaredEndpoints(deps: Deps) {
  const { store, clock, endpoints, deliveries, secrets, sources, organizations, results, positionOf, wake } =
    deps

  /**
   * Adds, changes and disables endpoints so that they match a configuration, in one unit of work. An endpoint is
   * recognized by its organization and name. One that is declared again sends what waited. Then disables endpoints whose
   * secrets cannot be read.
   */
  async function declare({ endpoints: declared }: Pick<Config, 'endpoints'>): Promise<void> {
    await store.commit(() => {
      const secretsById = new Map<string, DeclaredSecrets>()
      for (const one of declared) {
        const id = put(one)
        secretsById.set(id, { secrets: one.secrets, headers: one.headers })
      }
      for (const { id, source } of endpoints.list())
        if (source === DECLARED && !secretsById.has(id)) results.disable(id, 'config_removed')
      store.afterCommit(() => {
        secrets.declare(secretsById)
        wake()
      })
    })
    await store.commit(() => disableUnreadable(endpoints, secrets, results.disable))
  }

  function put(declared: Declared): string {
    const organization_id = organizations.resolve(declared.organization).id
    const { name } = declared
    const known = endpoints
      .list()
      .find((endpoint) => endpoint.organization_id === organization_id && endpoint.name === name)
    const head = sources[declared.kind].head()
    const endpoint = known ?? newEndpoint(organization_id, declared, { now: clock(), cursor: head })
    const appIds = appIdsOf(deps, organization_id, declared)
    const cursor = known ? positionOf(known) : head
    if (declared.ordered && !endpoint.is_ordered) deliveries.skipBeyond(endpoint.id, cursor, clock())
    endpoints.change(endpoint, { cursor, ...settingsOf(declared, appIds), ...stateOf(endpoint) })
    if (endpoint.reason === 'config_removed') deliveries.makeDue(endpoint.id, clock())
    if (endpoint.kind !== declared.kind) changeKind(deps, endpoint.id, declared.kind)
    return endpoint.id
  }

  const stateOf = ({ reason }: Endpoint) =>
    reason === 'config_removed' || reason === 'secret_unreadable'
      ? freshProgress('active', null, clock())
      : {}

  return { declare }
}

type Beginning = { now: number; cursor: number }

function newEndpoint(organization_id: string, declared: Declared, { now, cursor }: Beginning): Endpoint {
  const { name, kind, url } = declared
  return {
    ...freshProgress('active', null, now),
    id: newId('whe'),
    organization_id,
    name,
    kind,
    url,
    apps: null,
    environment: null,
    types: null,
    is_ordered: false,
    max_per_second: null,
    headers: null,
    header_names: [],
    source: DECLARED,
    cursor,
    last_success_at: null,
    last_failure_at: null,
    created_at: now,
    deleted_at: null,
    default_set: NEWEST_DEFAULT_SET,
    unreadable: {},
  }
}

function settingsOf(declared: Declared, apps: readonly string[] | null): Partial<Endpoint> {
  const { url, environment, types, ordered: is_ordered, max_per_second, headers } = declared
  const header_names = Object.keys(headers)
  const settings = { url, environment, types, apps, is_ordered, max_per_second }
  return { ...settings, source: DECLARED, headers: null, header_names }
}

/** An endpoint of another kind begins with the next item, because its cursor and its replays count other things. */
function changeKind(
  { endpoints, deliveries, sources, clock, stopReplays }: Deps,
  id: string,
  kind: EndpointKind,
): void {
  const endpoint = endpoints.get(id)
  if (endpoint === null) return
  deliveries.finishAll(id, 'skipped', 'The endpoint receives something else now.', clock())
  // No replay can send them any more.
  while (deliveries.dismiss(id, clock()) > 0);
  stopReplays(id)
  endpoints.change(endpoint, { kind, cursor: sources[kind].head() })
}

/** The ids of the declared bundle ids. One that is not connected is left out until the next start or reload. */
function appIdsOf(
  { apps, log }: Deps,
  organization_id: string,
  { name, apps: bundle_ids }: Declared,
): readonly string[] | null {
  if (bundle_ids === null) return null
  return bundle_ids.flatMap((bundle_id) => {
    const app = apps.ofOrganization(organization_id, bundle_id)
    if (app) return [app.id]
    log.warn('an endpoint names an app that is not connected', { endpoint: name, app: bundle_id })
    return []
  })
}
