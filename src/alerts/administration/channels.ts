/** What the owner does with channels: add, change, test, remove. */
import * as v from 'valibot'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Feed } from '../../events/feed.ts'
import { invalid, parse } from '../../http/parse.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import { type Channel, type Channels, newChannel } from '../channels/channels.ts'
import { findKind } from '../channels/kinds.ts'
import type { Rules } from '../rules/rules.ts'
import type { BackOff } from '../sending/back_off.ts'

/** The source of channels and rules that config.toml declares. */
export const DECLARED = 'config.toml'

/** What the owner enters. `settings` and `secrets` have the fields of the kind. */
type NewChannel = Pick<
  Channel,
  'organization_id' | 'name' | 'kind' | 'hides_amounts' | 'digests' | 'source'
> & { settings: unknown; secrets: unknown }
type ChannelChanges = Partial<
  Pick<NewChannel, 'name' | 'settings' | 'secrets' | 'hides_amounts' | 'digests'>
> & { state?: 'active' | 'disabled' }

const MAX_CHANNELS = 50

type Deps = {
  clock: Clock
  feed: Pick<Feed, 'head'>
  channels: Channels
  rules: Pick<Rules, 'addDefaults'>
  backOff: Pick<BackOff, 'forget'>
}

/** Finds channels, and free names. */
function openNames(channels: Channels) {
  /** Finds a channel. @throws Refusal 404 `unknown_channel` */
  function require(id: string): Channel {
    const channel = channels.get(id)
    if (channel !== null) return channel
    throw new Refusal(404, 'unknown_channel', `there is no channel ${id.slice(0, 40)}`)
  }

  /** @throws Refusal 404 `unknown_channel`, 409 `declared_in_config` */
  function requireOwn(id: string): Channel {
    const channel = require(id)
    if (channel.source !== DECLARED) return channel
    throw new Refusal(
      409,
      'declared_in_config',
      `${channel.name} is declared in config.toml; change it there`,
    )
  }

  /** @throws Refusal 409 `name_taken` */
  function assertFree(organization_id: string, name: string, id: string): void {
    if (channels.list(organization_id).some((other) => other.name === name && other.id !== id))
      throw new Refusal(409, 'name_taken', `another channel has the name ${name}`)
  }

  return { require, requireOwn, assertFree }
}

/** Opens the administration. All writing functions must run inside a unit of work. */
export function openChannelAdministration(deps: Deps) {
  const { clock, channels, backOff } = deps
  const { require, requireOwn, assertFree } = openNames(channels)

  /**
   * Changes a channel. A channel that does not work is tried again; one that the owner turned off stays off.
   *
   * @throws Refusal 400 `invalid_request`, 404 `unknown_channel`, 409 `declared_in_config`, 409 `name_taken`.
   */
  function change(id: string, { secrets, settings, ...changes }: ChannelChanges): Channel {
    const channel = requireOwn(id)
    const state = changes.state ?? (channel.state === 'disabled' ? 'disabled' : 'active')
    if (changes.name !== undefined) assertFree(channel.organization_id, changes.name, id)
    const checked = checkedChanges(channels, channel, { settings, secrets })
    const changed: Channel = {
      ...channel,
      ...changes,
      settings: checked.settings ?? channel.settings,
      state,
      reason: null,
      state_since: channel.state === state ? channel.state_since : clock(),
      next_at: null,
    }
    channels.put(changed)
    backOff.forget(id)
    if (checked.secrets !== null) channels.setSecrets(id, checked.secrets)
    return changed
  }

  /** Removes a channel and its secrets. What waits for it is not sent. @throws Refusal as `change` */
  function remove(id: string): Channel {
    const channel = requireOwn(id)
    channels.remove(id)
    return channel
  }

  return { require, add: openCreation(deps), change, remove }
}

/** Returns the function that adds a channel. */
function openCreation({ clock, feed, channels, rules }: Deps) {
  const { assertFree } = openNames(channels)

  /**
   * Adds a channel. The first channel of an organization brings the default rules, which begin with the next event.
   *
   * @throws Refusal 400 `invalid_request`, 409 `name_taken`, 409 `too_many_channels`, 409 `key_unreadable`.
   */
  return ({ secrets, settings, ...fields }: NewChannel): Channel => {
    const kind = requireKind(fields.kind)
    const { organization_id } = fields
    const parsed = parseAt(kind.settings, settings, 'settings')
    const channel = newChannel({ ...fields, settings: parsed }, clock())
    const checkedSecrets = parseAt(kind.secrets, secrets, 'secrets')
    assertMatching(kind, parsed, checkedSecrets)
    assertRoom(channels.list(organization_id).length)
    assertFree(organization_id, fields.name, channel.id)
    channels.put(channel)
    if (fields.source !== DECLARED) channels.setSecrets(channel.id, checkedSecrets)
    rules.addDefaults(organization_id, feed.head())
    return channel
  }
}

/** @throws Refusal 409 `too_many_channels` */
function assertRoom(count: number): void {
  if (count < MAX_CHANNELS) return
  const detail = `an organization has at most ${MAX_CHANNELS} channels; remove one first`
  throw new Refusal(409, 'too_many_channels', detail)
}

/** @throws Refusal 400 `invalid_request` */
function requireKind(name: string) {
  const kind = findKind(name)
  if (kind) return kind
  throw new Refusal(400, 'invalid_request', `there is no kind of channel ${name.slice(0, 40)}`)
}

/** The new settings and secrets of a channel; null where they stay. @throws Refusal 400 `invalid_request` */
function checkedChanges(
  channels: Pick<Channels, 'secretsOf'>,
  channel: Channel,
  changes: Pick<ChannelChanges, 'settings' | 'secrets'>,
) {
  const kind = requireKind(channel.kind)
  const settings =
    changes.settings === undefined ? null : parseAt(kind.settings, changes.settings, 'settings')
  const secrets = changes.secrets === undefined ? null : parseAt(kind.secrets, changes.secrets, 'secrets')
  if (settings !== null || secrets !== null)
    assertMatching(kind, settings ?? channel.settings, secrets ?? readableSecrets(channels, channel))
  return { settings, secrets }
}

/** @throws Refusal 400 `invalid_request` if the settings do not work with the secrets; null if those cannot be read. */
function assertMatching(
  { conflictOf }: ReturnType<typeof requireKind>,
  settings: Record<string, unknown>,
  secrets: object | null,
): void {
  const conflict = secrets === null ? null : (conflictOf?.(settings, secrets) ?? null)
  if (conflict !== null) throw invalid([conflict])
}

/** The stored secrets of a channel; null if they cannot be read, which its next message tells. */
function readableSecrets(channels: Pick<Channels, 'secretsOf'>, channel: Channel): object | null {
  try {
    return channels.secretsOf(channel)
  } catch (error) {
    if (error instanceof SecretUnreadable) return null
    throw error
  }
}

/** Parses a field of the request. @throws Refusal 400 `invalid_request` */
const parseAt = <Output>(schema: v.GenericSchema<unknown, Output>, value: unknown, name: string): Output =>
  parse(v.object({ [name]: schema }), { [name]: value })[name] as Output
