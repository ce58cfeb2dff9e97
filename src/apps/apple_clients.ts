/** The clients of Apple's APIs, one for each key. All callers of a key share its tokens and its hourly budget. */
import { type ConnectApi, openConnectApi } from '../apple/api/connect.ts'
import type { AppleFault } from '../apple/api/faults.ts'
import type { AppleHosts } from '../apple/api/hosts.ts'
import type { ApiKey } from '../apple/api/keys.ts'
import { openServerApi, type ServerApi } from '../apple/api/server.ts'
import type { Clock } from '../clock.ts'
import type { Accounts } from './accounts.ts'
import type { App } from './apps.ts'
import { openIcons } from './icons.ts'

/**
 * Apple's last answer to a key. `none`: there is no key. `unknown`: Windfall has not used it since the start. `why` is
 * a text for a person, `since` is in milliseconds.
 */
export type KeyStatus = {
  state: 'none' | 'unknown' | 'ok' | 'refused'
  why: string | null
  since: number | null
}

export type AppleClients = ReturnType<typeof openAppleClients>

type Deps = {
  accounts: Accounts
  clock: Clock
  hosts: AppleHosts
  /** Read on each use, so that a reload applies. */
  current: { readonly config: { readonly apple: { readonly icons: boolean } } }
  /** Waits before a retry; in milliseconds. */
  wait: (ms: number) => Promise<void>
}

/** Opens the clients; each one is created on first use. */
export function openAppleClients({ accounts, clock, hosts, current, wait }: Deps) {
  const statuses = new Map<string, KeyStatus>()
  const connects = openClientCache<ConnectApi>(accounts)
  const servers = openClientCache<ServerApi>(accounts)
  const icons = openIcons({ clock, host: hosts.lookup, isOn: () => current.config.apple.icons })

  /** The App Store Connect API with the organization's key; null if it has none. */
  function connect(organization_id: string): ConnectApi | null {
    const key = accounts.forOrganization(organization_id)?.connect
    if (!key) return null
    return connects.get(key, '', () =>
      openConnectApi({ key, clock, host: hosts.connect, wait, onAnswer: statusRecorder(key) }),
    )
  }

  /** The App Store Server API for one app, with its organization's In-App Purchase key; null if it has none. */
  function server({ organization_id, bundle_id }: App): ServerApi | null {
    const key = accounts.forOrganization(organization_id)?.purchases
    if (!key) return null
    const open = () =>
      openServerApi({ key, bundle_id, clock, wait, hosts: hosts.server, onAnswer: statusRecorder(key) })
    return servers.get(key, bundle_id, open)
  }

  /** Records only answers about the key itself. Callers report missing permissions for single requests. */
  const statusRecorder =
    (key: ApiKey) =>
    (fault: AppleFault | null): void => {
      const isRefused = fault?.kind === 'unauthorized' || fault?.kind === 'agreement'
      if (fault !== null && !isRefused) return
      const name = identityOf(key)
      const state = isRefused ? 'refused' : 'ok'
      const before = statuses.get(name)
      const since = before?.state === state ? before.since : clock()
      statuses.set(name, { state, why: fault?.message ?? null, since })
    }

  /** Apple's last answer to a key. */
  const keyStatus = (key: ApiKey | null): KeyStatus =>
    key === null ? { ...UNKNOWN_STATUS, state: 'none' } : (statuses.get(identityOf(key)) ?? UNKNOWN_STATUS)

  /** Notes that Apple has just accepted a key. */
  const noteAccepted = (key: ApiKey): void => statusRecorder(key)(null)

  /** Aborts requests to Apple that are in progress. */
  async function close(): Promise<void> {
    await Promise.all([connects.close(), servers.close(), icons.close()])
  }

  return { connect, server, keyStatus, noteAccepted, iconOf: icons.iconOf, close }
}

const UNKNOWN_STATUS: KeyStatus = { state: 'unknown', why: null, since: null }

/**
 * Caches clients by key and subject: a bundle id, or '' for App Store Connect. When no account has a key any more, its
 * client finishes its requests and gets no new ones.
 */
function openClientCache<Client extends { close(): Promise<void> }>(accounts: Accounts) {
  const cache = new Map<string, { key: string; client: Client }>()
  const retired: Client[] = []
  let isClosed = false

  function get(key: ApiKey, subject: string, openClient: () => Client): Client {
    const name = identityOf(key)
    const known = cache.get(name + subject)
    if (known) return known.client
    const inUse = new Set(
      accounts.list().flatMap(({ connect, purchases }) => [connect, purchases].flatMap(namesOf)),
    )
    for (const [id, entry] of cache) {
      if (inUse.has(entry.key)) continue
      cache.delete(id)
      retired.push(entry.client)
    }
    const client = openClient()
    cache.set(name + subject, { key: name, client })
    // After `close` a new client must fail immediately, so nothing waits for it.
    if (isClosed) void client.close()
    return client
  }

  function close() {
    isClosed = true
    const clients = [...retired, ...[...cache.values()].map(({ client }) => client)]
    return Promise.all(clients.map((client) => client.close()))
  }

  return { get, close }
}

const namesOf = (key: ApiKey | null): string[] => (key ? [identityOf(key)] : [])

const identityOf = ({ key_id, issuer_id, private_key }: ApiKey): string =>
  JSON.stringify([key_id, issuer_id, private_key])
