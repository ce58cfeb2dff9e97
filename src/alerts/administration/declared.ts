/** Applies the channels and rules that config.toml declares. Their secrets stay in memory. */
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config/settings.ts'
import type { Feed } from '../../events/feed.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import type { Store } from '../../store/store.ts'
import { type Channel, type Channels, newChannel } from '../channels/channels.ts'
import type { Rule, Rules } from '../rules/rules.ts'
import { settingsOf } from '../rules/templates.ts'
import type { BackOff } from '../sending/back_off.ts'
import { DECLARED } from './channels.ts'
import { type DeclaredChannel, type DeclaredRule, readDeclared } from './declared_values.ts'

type Deps = {
  store: Store
  clock: Clock
  log: Log
  feed: Pick<Feed, 'head'>
  apps: Apps
  organizations: Organizations
  channels: Channels
  rules: Rules
  backOff: Pick<BackOff, 'forget'>
  /** The seq of the last event that a rule has read. */
  positionOf: (id: string) => number
}

/** Opens the declarations of channels and rules. */
export function openDeclaredAlerts(deps: Deps) {
  const { store, feed, organizations, channels, rules } = deps
  const putChannel = openPutChannel(deps)
  const putRule = openPutRule(deps)

  /**
   * Adds, changes and removes channels and rules so that they match a configuration, in one unit of work. Both are
   * recognized by their organization and name: one that the owner made before with this name becomes declared. Rules come
   * first, so that a configuration with rules gets no default rules.
   */
  async function declare(config: Pick<Config, 'alert_channels' | 'alert_rules'>): Promise<void> {
    const declared = readDeclared(config)
    await store.commit(() => {
      const secretsById = new Map(declared.channels.map((one) => [putChannel(one), one.secrets]))
      const ruleIds = new Set(declared.rules.map(putRule))
      removeUndeclared(channels, secretsById)
      removeUndeclared(rules, ruleIds)
      for (const { organization } of declared.channels)
        rules.addDefaults(organizations.resolve(organization).id, feed.head())
      store.afterCommit(() => channels.declareSecrets(secretsById))
    })
  }

  return { declare }
}

type Removable = { list: () => readonly { id: string; source: string }[]; remove: (id: string) => void }

/** Removes what was declared, and no longer is. */
function removeUndeclared({ list, remove }: Removable, kept: { has: (id: string) => boolean }): void {
  for (const { id, source } of list()) if (source === DECLARED && !kept.has(id)) remove(id)
}

function openPutChannel({ clock, organizations, channels, backOff }: Deps) {
  /** Whether a channel has other secrets than before. After a start nobody knows, so that a dead one is tried again. */
  function hasOtherSecrets(channel: Channel, secrets: object): boolean {
    try {
      return JSON.stringify(channels.secretsOf(channel)) !== JSON.stringify(secrets)
    } catch (error) {
      if (error instanceof SecretUnreadable) return true
      throw error
    }
  }

  /** Adds or changes a channel, which rests no longer. A dead one is tried again if its settings or secrets changed. */
  return ({ organization, secrets, ...declared }: DeclaredChannel): string => {
    const organization_id = organizations.resolve(organization).id
    const known = channels.list(organization_id).find(({ name }) => name === declared.name)
    const channel = known ?? newChannel({ ...declared, organization_id, source: DECLARED }, clock())
    const isChanged =
      JSON.stringify(channel.settings) !== JSON.stringify(declared.settings) ||
      (channel.state === 'dead' && hasOtherSecrets(channel, secrets))
    const state = { state: 'active', reason: null, state_since: clock(), next_at: null } as const
    channels.put({ ...channel, ...declared, source: DECLARED, ...(isChanged && state) })
    backOff.forget(channel.id)
    return channel.id
  }
}

function openPutRule({ clock, feed, log, apps, organizations, channels, rules, positionOf }: Deps) {
  /** The ids of connected apps. One that is not connected is left out until the next start or reload. */
  function appIdsOf(organization_id: string, rule: string, bundle_ids: readonly string[] | null) {
    if (bundle_ids === null) return null
    return bundle_ids.flatMap((bundle_id) => {
      const app = apps.ofOrganization(organization_id, bundle_id)
      if (app) return [app.id]
      log.warn('an alert rule names an app that is not connected', { rule, app: bundle_id })
      return []
    })
  }

  /** Adds or changes a rule. A new one, and one that is switched on, begins with the next event. */
  return ({ organization, on, ...declared }: DeclaredRule): string => {
    const organization_id = organizations.resolve(organization).id
    const { name, template } = declared
    const known = rules.list(organization_id).find((rule) => rule.name === name)
    const ofOrganization = channels.list(organization_id)
    const channelIds = declared.channels?.flatMap(
      (channel) => ofOrganization.find((one) => one.name === channel)?.id ?? [],
    )
    const isFollowed = known?.is_on === true && known.template === template
    const rule: Rule = {
      id: known?.id ?? newId('alr'),
      organization_id,
      name,
      template,
      settings: settingsOf(template, {
        ...declared.settings,
        apps: appIdsOf(organization_id, name, declared.settings.apps ?? null),
      }),
      channels: channelIds ?? null,
      is_on: on,
      source: DECLARED,
      cursor: isFollowed ? Math.max(known.cursor, positionOf(known.id)) : feed.head(),
      created_at: known?.created_at ?? clock(),
    }
    rules.put(rule)
    return rule.id
  }
}
