/** Devices: browsers that accept Web Push. Each is a channel, which the device itself adds and renews. */
import { timingSafeEqual } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import type { Channel, Channels } from '../channels/channels.ts'
import { fieldsOf, hashOf, type Subscription, WEB_PUSH } from '../channels/web_push/web_push.ts'
import type { openChannelAdministration } from './channels.ts'

type Deps = { channels: Channels; administration: ReturnType<typeof openChannelAdministration> }

/** `replaces`: the hash of the endpoint that the device had before. */
type NewDevice = {
  organization_id: string
  name: string
  subscription: Subscription
  replaces: string | null
}

/** The push services of all devices, by host. */
export const pushHosts = (channels: Pick<Channels, 'list'>): string[] =>
  channels.list().flatMap(({ kind, settings }) => (kind === WEB_PUSH ? [String(settings.host)] : []))

/** Opens the devices. All writing functions must run inside a unit of work. */
export function openDevices({ channels, administration }: Deps) {
  const isAuth = openProof(channels)
  /** A browser has one subscription, and can be a device of several organizations. */
  const list = (endpoint_hash: string | null, organization_id: string | null = null): Channel[] =>
    channels
      .list(organization_id)
      .filter(({ kind, settings }) => kind === WEB_PUSH && settings.endpoint_hash === endpoint_hash)

  /**
   * Adds a device. One that is known by its endpoint, or by the one that it had before, gets the new subscription.
   *
   * @throws Refusal 409 `too_many_channels`, 409 `key_unreadable`
   */
  function add({ organization_id, name, subscription, replaces }: NewDevice): Channel {
    const { settings, secrets } = fieldsOf(subscription)
    const [known] = [...list(settings.endpoint_hash, organization_id), ...list(replaces, organization_id)]
    if (known !== undefined) return replace(known, subscription)
    return administration.add({
      organization_id,
      name: freeName(channels.list(organization_id), name),
      kind: WEB_PUSH,
      settings,
      secrets,
      hides_amounts: false,
      digests: [],
      source: 'dashboard',
    })
  }

  /**
   * Replaces the subscription of a device, which proves itself with the secret of the old one. An endpoint can be
   * replaced once. Returns the channels of the device.
   *
   * @throws Refusal 404 `unknown_device`
   */
  function renew(old_endpoint: string, auth: string, subscription: Subscription): Channel[] {
    const known = list(hashOf(old_endpoint)).filter((channel) => isAuth(channel, auth))
    if (known.length === 0) throw new Refusal(404, 'unknown_device', 'there is no such device')
    return known.map((channel) => replace(channel, subscription))
  }

  const replace = ({ id }: Channel, subscription: Subscription): Channel =>
    administration.change(id, fieldsOf(subscription))

  return { add, renew }
}

/** Returns the function that compares a secret with the one that is stored for a device. */
function openProof(channels: Channels) {
  return (channel: Channel, auth: string): boolean => {
    try {
      const [given, stored] = [auth, String(Reflect.get(channels.secretsOf(channel), 'auth'))].map((text) =>
        Buffer.from(text, 'base64url'),
      )
      return given !== undefined && stored?.length === given.length && timingSafeEqual(given, stored)
    } catch (error) {
      if (error instanceof SecretUnreadable) return false
      throw error
    }
  }
}

/** The name, with a number if it is taken. */
function freeName(taken: readonly Channel[], name: string): string {
  const names = new Set(taken.map((one) => one.name))
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name} ${number}`
    if (!names.has(free)) return free
  }
}
