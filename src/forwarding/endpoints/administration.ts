/** What the owner does with endpoints: create, change, pause, resume, rotate, delete. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import type { Store } from '../../store/store.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import type { Source } from '../sending/sources.ts'
import { freshProgress } from '../sending/states.ts'
import type { Endpoint, EndpointKind, Endpoints } from './endpoints.ts'
import { NEWEST_DEFAULT_SET } from './matching.ts'
import type { EndpointSecrets } from './secrets.ts'

/** The source of endpoints that config.toml declares. */
export const DECLARED = 'config.toml'

/** What the owner enters. `headers`: name and value. */
export type EndpointSettings = Pick<
  Endpoint,
  'name' | 'url' | 'apps' | 'environment' | 'types' | 'is_ordered' | 'max_per_second'
> & { headers: Readonly<Record<string, string>> }

/** A new endpoint. Without a name it gets that of its host. */
export type NewEndpoint = Omit<EndpointSettings, 'name'> &
  Pick<Endpoint, 'organization_id' | 'kind' | 'source'> & { name: string | null }

/** A name has at most 40 characters, of which a number may need four. */
const MAX_HOST_LENGTH = 36

export type AdministrationDeps = {
  store: Store
  clock: Clock
  endpoints: Endpoints
  deliveries: Deliveries
  secrets: EndpointSecrets
  sources: Readonly<Record<EndpointKind, Source>>
  /** The position up to which the source was read, which can be ahead of the stored cursor. */
  positionOf: (endpoint: Endpoint) => number
  stopReplays: (endpoint_id: string) => void
  wake: () => void
}

/** Opens the administration. All writing functions must run inside a unit of work. */
export const openAdministration = (deps: AdministrationDeps) => ({
  ...openSettings(deps),
  ...openStates(deps),
})

/** Finds an endpoint. @throws Refusal 404 `unknown_endpoint` */
function requireEndpoint(endpoints: Endpoints, id: string): Endpoint {
  const endpoint = endpoints.get(id)
  if (endpoint !== null && endpoint.deleted_at === null) return endpoint
  throw new Refusal(404, 'unknown_endpoint', `there is no endpoint ${id.slice(0, 40)}`)
}

/** Finds the owner’s own endpoints, and free names. */
function openNames(endpoints: Endpoints) {
  /** @throws Refusal 404 `unknown_endpoint`, 409 `declared_in_config` */
  function requireOwn(id: string): Endpoint {
    const endpoint = requireEndpoint(endpoints, id)
    if (endpoint.source !== DECLARED) return endpoint
    throw new Refusal(
      409,
      'declared_in_config',
      `${endpoint.name} is declared in config.toml; change it there`,
    )
  }

  const isTaken = (organization_id: string, name: string, exceptId: string): boolean =>
    endpoints
      .list()
      .some(
        (other) => other.organization_id === organization_id && other.name === name && other.id !== exceptId,
      )

  /** @throws Refusal 409 `name_taken` */
  function assertFree(organization_id: string, name: string, id: string): void {
    if (isTaken(organization_id, name, id))
      throw new Refusal(409, 'name_taken', `another endpoint has the name ${name}`)
  }

  /** The host of the URL, shortened, with a number if another endpoint has that name. */
  function freeName({ url, organization_id }: Pick<NewEndpoint, 'url' | 'organization_id'>): string {
    const host = new URL(url).hostname.replace(/[^a-z0-9.-]+/g, '').slice(0, MAX_HOST_LENGTH) || 'endpoint'
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? host : `${host}-${number}`
      if (!isTaken(organization_id, name, '')) return name
    }
  }

  return { requireOwn, assertFree, freeName }
}

/** Returns a function that creates an endpoint. */
function openCreation({ clock, endpoints, secrets, sources }: AdministrationDeps) {
  const { assertFree, freeName } = openNames(endpoints)

  /**
   * Creates an endpoint, which begins at the head of the feed, and its secret.
   *
   * @throws Refusal 409 `name_taken`, 409 `key_unreadable`.
   */
  return (settings: NewEndpoint): { endpoint: Endpoint; secret: string } => {
    const now = clock()
    const { headers, ...fields } = settings
    const id = newId('whe')
    const name = settings.name ?? freeName(settings)
    assertFree(settings.organization_id, name, id)
    const endpoint: Endpoint = {
      ...fields,
      ...freshProgress('active', null, now),
      id,
      name,
      headers: secrets.sealHeaders(id, headers),
      header_names: Object.keys(headers),
      cursor: sources[settings.kind].head(),
      last_success_at: null,
      last_failure_at: null,
      created_at: now,
      deleted_at: null,
      default_set: NEWEST_DEFAULT_SET,
      unreadable: {},
    }
    endpoints.put(endpoint)
    return { endpoint, secret: secrets.rotate(id, 0) }
  }
}

function openSettings(deps: AdministrationDeps) {
  const { store, clock, endpoints, deliveries, secrets, positionOf, wake } = deps
  const { requireOwn, assertFree } = openNames(endpoints)

  /**
   * Changes settings of an endpoint. Waiting deliveries are checked against them before their next attempt. What the
   * endpoint did not receive so far is not sent because of a new setting.
   *
   * @throws Refusal 404 `unknown_endpoint`, 409 `declared_in_config`, 409 `name_taken`.
   */
  function change(id: string, { headers, ...fields }: Partial<EndpointSettings>): Endpoint {
    const endpoint = requireOwn(id)
    if (fields.name !== undefined) assertFree(endpoint.organization_id, fields.name, id)
    const sealed = headers && {
      headers: secrets.sealHeaders(id, headers),
      header_names: Object.keys(headers),
    }
    const chosen = fields.types !== undefined && { default_set: NEWEST_DEFAULT_SET }
    const cursor = positionOf(endpoint)
    if (fields.is_ordered && !endpoint.is_ordered) deliveries.skipBeyond(id, cursor, clock())
    endpoints.change(endpoint, { ...fields, ...sealed, ...chosen, cursor })
    store.afterCommit(wake)
    return requireEndpoint(endpoints, id)
  }

  /**
   * Deletes an endpoint and returns how many waiting deliveries were dropped. Its log stays.
   *
   * @throws like `change`, unless config.toml no longer declares the endpoint.
   */
  function remove(id: string): number {
    const known = requireEndpoint(endpoints, id)
    const endpoint = known.reason === 'config_removed' ? known : requireOwn(id)
    const now = clock()
    const dropped = deliveries.finishAll(id, 'dropped', 'The endpoint was deleted.', now)
    deps.stopReplays(id)
    secrets.forget(id)
    endpoints.change(endpoint, { ...freshProgress('disabled', null, now), headers: null, deleted_at: now })
    return dropped
  }

  /** Creates a new secret; the earlier one signs too for `overlap_ms`. @throws like `change`, 409 `key_unreadable` */
  function rotate(id: string, overlap_ms: number): { endpoint: Endpoint; secret: string } {
    const endpoint = requireOwn(id)
    return { endpoint, secret: secrets.rotate(id, overlap_ms) }
  }

  const get = (id: string): Endpoint => requireEndpoint(endpoints, id)

  return { create: openCreation(deps), change, remove, rotate, list: endpoints.list, get, getOwn: requireOwn }
}

function openStates(deps: AdministrationDeps) {
  const { store, clock, endpoints, deliveries, secrets, sources, stopReplays, wake } = deps

  /** Pauses an endpoint. Idempotent. @throws Refusal 404 `unknown_endpoint`, 409 `not_active` if it is disabled. */
  function pause(id: string): Endpoint {
    const endpoint = requireEndpoint(endpoints, id)
    if (endpoint.state === 'disabled')
      throw new Refusal(409, 'not_active', `${endpoint.name} is disabled already`)
    if (endpoint.state !== 'paused') endpoints.change(endpoint, freshProgress('paused', 'owner', clock()))
    return requireEndpoint(endpoints, id)
  }

  /**
   * Resumes a paused, disabled or failing endpoint: sends what waited, or skips it, stops replays and continues from now.
   * Skipped events can be replayed.
   *
   * @throws Refusal 404 `unknown_endpoint`, 409 `not_paused`, `config_removed` or `secret_unreadable`.
   */
  function resume(id: string, from: 'waiting' | 'now'): Endpoint {
    const endpoint = requireEndpoint(endpoints, id)
    const { name, kind } = endpoint
    if (endpoint.state === 'active') throw new Refusal(409, 'not_paused', `${name} is active already`)
    assertDeclared(endpoint)
    assertReadable(secrets, endpoint)
    const now = clock()
    if (from === 'now') skip(endpoint, now)
    else deliveries.makeDue(id, now)
    const cursor = from === 'now' ? sources[kind].head() : endpoint.cursor
    endpoints.change(endpoint, { ...freshProgress('active', null, now), cursor })
    store.afterCommit(wake)
    return requireEndpoint(endpoints, id)
  }

  function skip({ id }: Endpoint, now: number): void {
    deliveries.finishAll(id, 'skipped', 'The endpoint was resumed from a later event.', now)
    stopReplays(id)
  }

  /** Skips everything that waits, on every endpoint, for a restored database whose original already sent it. */
  function skipBacklog(): void {
    const now = clock()
    for (const endpoint of endpoints.list()) {
      skip(endpoint, now)
      endpoints.moveCursor(endpoint.id, sources[endpoint.kind].head())
    }
  }

  return { pause, resume, skipBacklog }
}

/** Disables endpoints whose secrets or headers cannot be read. Must run inside a unit of work. */
export function disableUnreadable(
  endpoints: Endpoints,
  secrets: EndpointSecrets,
  disable: (id: string, reason: 'secret_unreadable') => void,
): void {
  for (const endpoint of endpoints.list()) {
    try {
      assertReadable(secrets, endpoint)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      disable(endpoint.id, 'secret_unreadable')
    }
  }
}

/** Asserts that an endpoint of config.toml has its secrets. @throws Refusal 409 `config_removed` */
export function assertDeclared({ name, reason }: Pick<Endpoint, 'name' | 'reason'>): void {
  if (reason !== 'config_removed') return
  const text = `${name} is no longer declared in config.toml; declare it there again`
  throw new Refusal(409, 'config_removed', text)
}

/** @throws Refusal 409 `secret_unreadable` */
function assertReadable(secrets: EndpointSecrets, endpoint: Endpoint): void {
  try {
    if (secrets.signing(endpoint).length > 0) secrets.headers(endpoint)
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error
    const remedy = 'Restore windfall.key, or rotate the secret and enter the headers again'
    const text = `the secret of ${endpoint.name} cannot be read: ${error.message}. ${remedy}`
    throw new Refusal(409, 'secret_unreadable', text)
  }
}
