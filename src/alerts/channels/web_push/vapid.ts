/** The VAPID key pair of this instance (RFC 8292), which push services know Windfall by. */
import { generateKeyPairSync } from 'node:crypto'
import * as v from 'valibot'
import { Refusal } from '../../../errors.ts'
import { type Finding, warning } from '../../../health/findings.ts'
import { SecretUnreadable } from '../../../outgoing/sealing.ts'
import type { Secrets } from '../../../outgoing/secrets.ts'
import { openSetting } from '../../../store/setting.ts'
import type { Store } from '../../../store/store.ts'

/** The public key as an uncompressed point and the private one as a scalar, in base64url. */
type KeyPair = Readonly<{ public_key: string; private_key: string }>
const Stored = v.object({ public_key: v.string(), sealed: v.string() })

type Deps = {
  store: Pick<Store, 'prepare' | 'commit'>
  secrets: Pick<Secrets, 'seal' | 'open'>
  contact: () => string | null
  baseUrl: () => string
  /** The push services of the devices, by host. */
  hosts: () => readonly string[]
}

/** What a request is signed with; otherwise `refusal` says why there is nothing to sign with, and what to do. */
type Signing = Readonly<{ subject: string; publicKey: string; privateKey: string } | { refusal: string }>

export type Vapid = ReturnType<typeof openVapid>

const LOCATION = { table: 'settings', row: 'vapid', column: 'value' }
const CONTACT_NEEDED =
  'push services ask for a contact: set contact = "you@example.com" under [alerts] in config.toml, or a base_url with https'
const CONTACT_REFUSAL = `P${CONTACT_NEEDED.slice(1)}.`
const PAIR_REFUSAL = 'Open the dashboard on the device, so that it subscribes again.'

/** Opens the key pair. It is made with the first device. */
export function openVapid({ store, secrets, contact, baseUrl, hosts }: Deps) {
  const setting = openSetting(store, LOCATION.row)

  /** The pair; null if there is none, or if its private key cannot be read. */
  function pair(): KeyPair | null {
    const stored = setting.get()
    if (stored === null) return null
    const { public_key, sealed } = v.parse(Stored, JSON.parse(stored))
    try {
      return { public_key, private_key: secrets.open(sealed, LOCATION) }
    } catch (error) {
      if (error instanceof SecretUnreadable) return null
      throw error
    }
  }

  /**
   * The public key for new devices. Makes a pair if there is none that can be read: then each device subscribes again
   * when its page is opened. Must run inside a unit of work.
   *
   * @throws Refusal 409 `contact_needed`, 409 `key_unreadable`
   */
  function publicKey(): string {
    if (subject() === null) throw new Refusal(409, 'contact_needed', CONTACT_NEEDED)
    const { public_key, private_key } = pair() ?? newPair()
    if (pair() === null)
      setting.set(JSON.stringify({ public_key, sealed: secrets.seal(private_key, LOCATION) }))
    return public_key
  }

  /** Whom a push service can reach: the contact, or the https base URL of a public host (RFC 8292 §2.1). */
  function subject(): string | null {
    const address = contact()
    if (address !== null) return `mailto:${address}`
    const url = URL.canParse(baseUrl()) ? new URL(baseUrl()) : null
    return url?.protocol === 'https:' && isPublicName(url.hostname) ? url.origin : null
  }

  function signing(): Signing {
    const sub = subject()
    if (sub === null) return { refusal: CONTACT_REFUSAL }
    const keys = pair()
    if (keys === null) return { refusal: PAIR_REFUSAL }
    return { subject: sub, publicKey: keys.public_key, privateKey: keys.private_key }
  }

  const refusals = openRefusals(store, hosts)
  /** What keeps messages from devices: no contact, or a push service that refuses the pair. */
  const findings = (): Finding[] =>
    subject() === null && hosts().length > 0
      ? [warning('alerts', CONTACT_REFUSAL, { id: 'vapid', title: 'Devices get no alerts' })]
      : refusals.findings()

  return { publicKey, signing, note: refusals.note, findings }
}

/** What each push service said when it refused the pair, by its host. */
const Refusals = v.record(v.string(), v.string())

/** Opens what push services say about the pair. It is stored, because a restart ends no refusal. */
function openRefusals(store: Deps['store'], hosts: Deps['hosts']) {
  const setting = openSetting(store, 'push_refusals')
  const stored = setting.get()
  const refusals = new Map(Object.entries(stored === null ? {} : v.parse(Refusals, JSON.parse(stored))))

  /** Notes whether a push service accepts the pair. `words` is null if it does. */
  async function note(host: string, words: string | null): Promise<void> {
    if ((refusals.get(host) ?? null) === words) return
    if (words === null) refusals.delete(host)
    else refusals.set(host, words)
    await store.commit(() => setting.set(JSON.stringify(Object.fromEntries(refusals))))
  }

  /** A warning for each push service that refuses the pair and still has a device. */
  const findings = (): Finding[] =>
    [...refusals]
      .filter(([host]) => hosts().includes(host))
      .map(([host, words]) =>
        warning('alerts', words, {
          id: `vapid:${host}`,
          title: `${host} refuses Windfall’s messages`,
          action: { label: 'Open the devices', href: '/settings/alerts' },
        }),
      )

  return { note, findings }
}

/** Apple refuses localhost and .local (BadJwtToken), and an address is no name. */
const isPublicName = (host: string): boolean =>
  host.includes('.') && !/(^|\.)(localhost|local|internal|test)$|^[\d.]+$|^\[/.test(host)

function newPair(): KeyPair {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return { public_key: point.toString('base64url'), private_key: d }
}
