/** Simulated devices with App Attest: keys, attestations and assertions like Apple's, under a root of their own. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { type CBORType, encodeCBOR } from '@levischuck/tiny-cbor'
import { sha256Of } from '../../ids.ts'
import { newKey, pemOf } from './authority.ts'
import { type Issued, issueCertificate } from './certificates.ts'

const YEAR_MS = 365.25 * 86_400_000
const DAY_MS = 86_400_000
const AAGUIDS = { production: 'appattest\0\0\0\0\0\0\0', development: 'appattestdevelop' }
const FLAGS = 0x40

/** What a forger changes. Each default is Apple's. */
type AttestationChanges = {
  environment?: 'production' | 'development' | undefined
  /** The bytes of the aaguid, instead of those of `environment`. */
  aaguid?: string | undefined
  counter?: number | undefined
  flags?: number | undefined
  /** The map that iOS 27 appends to the authenticator data; nothing before iOS 27. */
  details?: Map<string, CBORType> | undefined
  /** Any bytes in its place. */
  trailing?: Uint8Array | undefined
  credential_id?: Uint8Array | undefined
  cose_key?: Map<number, CBORType> | undefined
  nonce_extension?: Uint8Array | undefined
  valid_from?: number | undefined
  valid_until?: number | undefined
  leaf_curve?: 'P-256' | 'P-384' | undefined
}

/** The app on the device. `team_id` is its App ID prefix. */
type DeviceApp = { team_id: string; bundle_id: string }

/** Opens an authority for attestations, valid around `now` (milliseconds since the epoch). */
export function openDeviceAuthority(now: number) {
  const root = authority('Simulated App Attestation Root CA', now)
  const intermediate = authority('Simulated App Attestation CA 1', now, root)

  /** A device with a new key. */
  function device(app: DeviceApp) {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    return openDevice({ key, app_id: `${app.team_id}.${app.bundle_id}`, intermediate, now })
  }

  return { root_pem: pemOf(root.der), device }
}

export type Device = ReturnType<typeof openDevice>

type Opened = { key: KeyObject; app_id: string; intermediate: Issued; now: number }

function openDevice({ key, app_id, intermediate, now }: Opened) {
  const point = createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(-65)
  const key_id = sha256Of(point)
  let counter = 0

  /** An attestation of the key for a hash of client data, as the system returns it. */
  function attest(clientDataHash: Uint8Array, changes: AttestationChanges = {}): Buffer {
    const data = attestedData({ app_id, point, key_id }, changes)
    const nonce = sha256Of(Buffer.concat([data, clientDataHash]))
    const from = changes.valid_from ?? now - DAY_MS
    const leaf = issueCertificate({
      name: key_id.toString('hex'),
      key: changes.leaf_curve === 'P-384' ? newKey('P-384') : key,
      issuer: intermediate,
      from,
      until: changes.valid_until ?? from + 3 * DAY_MS,
      isAuthority: false,
      extensions: {
        '1.2.840.113635.100.8.2':
          changes.nonce_extension ?? Buffer.concat([Buffer.from('3024a1220420', 'hex'), nonce]),
        '1.2.840.113635.100.8.5': sequence(tagged('bf8934', app_id)),
        '1.2.840.113635.100.8.7': sequence(tagged('bf8a78', '27.0')),
      },
    })
    const statement = new Map<string, CBORType>([
      ['x5c', [plain(leaf.der), plain(intermediate.der)]],
      ['receipt', plain(randomBytes(64))],
    ])
    return encodeMap([
      ['fmt', 'apple-appattest'],
      ['attStmt', statement],
      ['authData', plain(data)],
    ])
  }

  /** An assertion over `clientData`. The counter goes up by one with each. */
  function assert(clientData: Uint8Array | string, details?: Map<string, CBORType>): Buffer {
    counter += 1
    return assertAt(counter, clientData, details)
  }

  /** An assertion with a counter of the caller's choice. */
  const assertAt = (at: number, clientData: Uint8Array | string, details?: Map<string, CBORType>): Buffer =>
    assertHash(at, sha256Of(clientData), details)

  /** An assertion over client data with this SHA-256. */
  function assertHash(at: number, hash: Uint8Array, details?: Map<string, CBORType>): Buffer {
    const data = Buffer.concat([head(app_id, FLAGS, at), details ? encodeCBOR(details) : Buffer.alloc(0)])
    const signature = sign('sha256', sha256Of(Buffer.concat([data, hash])), key)
    return encodeMap([
      ['signature', plain(signature)],
      ['authenticatorData', plain(data)],
    ])
  }

  return { key_id: key_id.toString('base64'), attest, assert, assertAt, assertHash }
}

function attestedData(
  { app_id, point, key_id }: { app_id: string; point: Buffer; key_id: Buffer },
  changes: AttestationChanges,
): Buffer {
  const coseKey = new Map<number, CBORType>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, plain(point.subarray(1, 33))],
    [-3, plain(point.subarray(33))],
  ])
  const details = changes.details ? encodeCBOR(changes.details) : Buffer.alloc(0)
  return Buffer.concat([
    head(app_id, changes.flags ?? FLAGS, changes.counter ?? 0),
    Buffer.from(changes.aaguid ?? AAGUIDS[changes.environment ?? 'production'], 'latin1'),
    Buffer.of(0, 32),
    changes.credential_id ?? key_id,
    encodeCBOR(changes.cose_key ?? coseKey),
    changes.trailing ?? details,
  ])
}

function head(app_id: string, flags: number, counter: number): Buffer {
  const counterBytes = Buffer.alloc(4)
  counterBytes.writeUInt32BE(counter)
  return Buffer.concat([sha256Of(app_id), Buffer.of(flags), counterBytes])
}

const authority = (name: string, now: number, issuer?: Issued): Issued =>
  issueCertificate({
    name,
    key: newKey('P-384'),
    issuer,
    from: now - 5 * YEAR_MS,
    until: now + 15 * YEAR_MS,
    isAuthority: true,
  })

/** DER: a text as an octet string under a context tag of several bytes. */
const tagged = (tag: string, text: string): Buffer =>
  Buffer.concat([Buffer.from(tag, 'hex'), Buffer.of(text.length + 2, 4, text.length), Buffer.from(text)])

const sequence = (content: Buffer): Buffer => Buffer.concat([Buffer.of(0x30, content.length), content])

const encodeMap = (entries: [string, CBORType][]): Buffer => Buffer.from(encodeCBOR(new Map(entries)))

/** The encoder accepts no subclass of Uint8Array, such as Buffer. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)
