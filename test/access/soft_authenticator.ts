/** An authenticator for tests, written by the text of WebAuthn: it creates passkeys and uses them. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { encodeCBOR } from '@levischuck/tiny-cbor'

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const ATTESTED = 0x40

/** What an authenticator or a browser may get wrong, or lie about. */
export type Fault = {
  origin?: string
  host?: string
  type?: string
  flags?: number
  counter?: number
  challenge?: string
  /** Signs with another key. */
  key?: KeyObject
  /** The attestation: its format and statement. */
  attestation?: [string, [string, unknown][]]
  id?: string
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()
const text = (bytes: Buffer): string => bytes.toString('base64url')

type CborMap = Parameters<typeof encodeCBOR>[0]
const cbor = (entries: [number | string, unknown][]): Buffer =>
  Buffer.from(encodeCBOR(new Map(entries) as unknown as CborMap))

/** The public key as COSE (RFC 9053), ES256. */
function coseOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' }) as { x?: string; y?: string }
  const bytes = (part: string) => new Uint8Array(Buffer.from(part, 'base64url'))
  return cbor([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, bytes(x)],
    [-3, bytes(y)],
  ])
}

export const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** Opens an authenticator with one passkey. `counter` 0 never counts, as in synced passkeys. */
export function openSoftAuthenticator({
  origin = 'http://localhost:8787',
  host = 'localhost',
  counter = 0,
} = {}) {
  const { privateKey, publicKey } = newKey()
  const id = text(randomBytes(16))
  let uses = counter

  const clientData = (type: string, challenge: string, fault: Fault): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: fault.type ?? type,
        challenge: fault.challenge ?? challenge,
        origin: fault.origin ?? origin,
        crossOrigin: false,
      }),
    )

  function authenticatorData(flags: number, fault: Fault, attested = Buffer.alloc(0)): Buffer {
    const head = Buffer.alloc(5)
    head.writeUInt8(fault.flags ?? flags)
    head.writeUInt32BE(fault.counter ?? uses, 1)
    return Buffer.concat([sha256(fault.host ?? host), head, attested])
  }

  /** The answer to creation options. */
  function create({ challenge }: { challenge: string }, fault: Fault = {}) {
    const idBytes = Buffer.from(id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(idBytes.length)
    const attested = Buffer.concat([Buffer.alloc(16), length, idBytes, coseOf(publicKey)])
    const flags = USER_PRESENT | USER_VERIFIED | ATTESTED
    const [format, statement] = fault.attestation ?? ['none', []]
    const attestation = cbor([
      ['fmt', format],
      ['attStmt', new Map(statement)],
      ['authData', new Uint8Array(authenticatorData(flags, fault, attested))],
    ])
    return {
      id: fault.id ?? id,
      rawId: fault.id ?? id,
      type: 'public-key',
      response: {
        clientDataJSON: text(clientData('webauthn.create', challenge, fault)),
        attestationObject: text(attestation),
        transports: ['internal'],
      },
      clientExtensionResults: { credProps: { rk: true } },
      authenticatorAttachment: 'platform',
    }
  }

  /** The answer to request options. */
  function use({ challenge }: { challenge: string }, fault: Fault = {}) {
    if (counter > 0) uses += 1
    const data = authenticatorData(USER_PRESENT | USER_VERIFIED, fault)
    const client = clientData('webauthn.get', challenge, fault)
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), fault.key ?? privateKey)
    return {
      id: fault.id ?? id,
      rawId: fault.id ?? id,
      type: 'public-key',
      response: {
        clientDataJSON: text(client),
        authenticatorData: text(data),
        signature: text(signature),
        userHandle: text(randomBytes(32)),
      },
      clientExtensionResults: {},
    }
  }

  return { create, use, id }
}
