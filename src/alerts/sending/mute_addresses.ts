/**
 * Addresses that mute alerts for an hour, one for each message to a channel: the buttons of messages. An address is an HMAC
 * with this instance's key; only which messages were used is stored.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { isLoopback } from '../../http/hosts.ts'
import { openInstanceKey } from '../../store/instance_key.ts'
import type { Store } from '../../store/store.ts'
import type { Channel, Channels } from '../channels/channels.ts'
import type { Memory } from '../memory.ts'
import type { Messages } from '../messages/messages.ts'
import type { AlertSettingsStore } from '../settings.ts'

const HOUR_MS = 3_600_000
/** How long an address works after its message was sent. */
const VALID_MS = 24 * HOUR_MS
/** A use is remembered for longer, so that a clock that is set back does not renew the address. */
const KEEP_USED_MS = 2 * VALID_MS

type Deps = {
  store: Pick<Store, 'prepare'>
  clock: Clock
  memory: Memory
  messages: Pick<Messages, 'send'>
  channels: Pick<Channels, 'get'>
  settings: Pick<AlertSettingsStore, 'get'>
  baseUrl: () => string
}

/** `is_first`: the address was not used before, so the mute is to be stored. */
type Press = Readonly<{ channel: Channel; muted_until: number; is_first: boolean }>

export type MuteAddresses = ReturnType<typeof openMuteAddresses>

/** Opens the addresses. */
export function openMuteAddresses(deps: Deps) {
  const { clock, messages, channels, settings, baseUrl } = deps
  const key = openInstanceKey(deps.store, 'mute_key')
  const uses = openUses(deps)

  /**
   * The address of a message to a channel. Null before `prepare` made the key, and if `base_url` is an address of this
   * machine, which no phone reaches.
   */
  function addressOf(message_id: string, channel_id: string): string | null {
    const secret = key.get()
    const base = baseUrl()
    if (secret === null || !URL.canParse(base) || isLoopback(new URL(base).host)) return null
    const subject = `${message_id}.${channel_id}`
    return `${base}/api/v1/alerts/mute/${subject}.${macOf(secret, subject)}`
  }

  /** The channel and the message of the last part of an address. @throws Refusal 404 `unknown_mute` */
  function read(text: string): { subject: string; channel: Channel; sent_at: number } {
    const [, subject = '', mac = ''] = /^(.+)\.([\w-]+)$/.exec(text) ?? []
    const [message_id = '', channel_id = ''] = subject.split('.')
    const secret = key.get()
    const isOurs = secret !== null && isEqual(mac, macOf(secret, subject))
    const channel = isOurs ? channels.get(channel_id) : null
    const send = isOurs ? messages.send(message_id, channel_id) : null
    if (channel === null || send === null) throw unknown()
    // The phone can be faster than the result of the provider.
    return { subject, channel, sent_at: send.finished_at ?? clock() }
  }

  /**
   * Uses an address, and says until when alerts are muted: for an hour, or longer if they are muted for longer already. A
   * repetition during the mute gets the same answer, because a phone repeats a request whose answer was lost. Must run
   * inside a unit of work.
   *
   * @throws Refusal 404 `unknown_mute`, 410 `mute_ended` if the address was used or is older than a day
   */
  function press(text: string): Press {
    const { subject, channel, sent_at } = read(text)
    const now = clock()
    const { organization_id } = channel
    const muted_until = settings.get(organization_id).muted_until ?? 0
    if (!uses.has(organization_id, subject)) {
      if (now - sent_at > VALID_MS) throw ended('the message is older than a day')
      uses.add(organization_id, subject)
      return { channel, muted_until: Math.max(muted_until, now + HOUR_MS), is_first: true }
    }
    if (muted_until > now) return { channel, muted_until, is_first: false }
    throw ended('the address was used; open the dashboard to mute alerts again')
  }

  return {
    /** Makes the key if there is none. Must run inside a unit of work. */
    prepare: (): void => void key.make(),
    addressOf,
    press,
  }
}

/** Opens the uses of addresses. "mute/" begins their keys. */
function openUses({ clock, memory }: Pick<Deps, 'clock' | 'memory'>) {
  const ownerOf = (organization_id: string) => ({ organization_id, rule_id: '' })
  const has = (organization_id: string, subject: string): boolean =>
    memory.get(ownerOf(organization_id), `mute/${subject}`) !== null

  /** Remembers a use, and forgets those whose addresses have long ended. Must run inside a unit of work. */
  function add(organization_id: string, subject: string): void {
    const owner = ownerOf(organization_id)
    for (const { key, at } of memory.all(owner, 'mute'))
      if (clock() - at > KEEP_USED_MS) memory.forget(owner, key)
    memory.set(owner, `mute/${subject}`, '', clock())
  }

  return { has, add }
}

const macOf = (secret: Buffer, subject: string): string =>
  createHmac('sha256', secret).update(subject).digest('base64url')

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

const unknown = (): Refusal =>
  new Refusal(404, 'unknown_mute', 'the address is incomplete or was changed, or the channel was removed')

const ended = (detail: string): Refusal => new Refusal(410, 'mute_ended', detail)
