/**
 * A signing authority like Apple's: root, intermediate and leaf certificates with Apple's marker extensions, and the
 * leaf's key. Each authority has a new root, which no other instance trusts.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type Issued, issueCertificate } from './certificates.ts'

const signOnThreadPool = promisify(sign)

const YEAR_MS = 365.25 * 86_400_000
const LEAF_MARKER = '1.2.840.113635.100.6.11.1'
const INTERMEDIATE_MARKER = '1.2.840.113635.100.6.2.1'

/** A certificate chain with its private keys. `chain` holds the certificates as DER: leaf, intermediate, root. */
export type Chain = {
  root_pem: string
  chain: Buffer[]
  leaf_key: KeyObject
  intermediate_key: KeyObject
  root_key: KeyObject
  issued: { leaf: Issued; intermediate: Issued; root: Issued }
}

export type Authority = Chain & {
  /** The payload as a compact JWS: ES256 (RFC 7518 §3.4), header `{alg, x5c}`. */
  sign: (payload: object) => string
  /** The same as `sign`, on the thread pool. */
  signAsync: (payload: object) => Promise<string>
}

/** How a chain differs from a valid chain of Apple's, which is the default. Times are milliseconds since the epoch. */
type ChainOptions = {
  now: number
  without?: 'leaf_marker' | 'intermediate_marker' | 'ca_flag' | undefined
  leaf_from?: number | undefined
  leaf_until?: number | undefined
  intermediate_from?: number | undefined
  intermediate_until?: number | undefined
  root_from?: number | undefined
  root_until?: number | undefined
  leaf_curve?: 'P-256' | 'P-384' | undefined
  intermediate_curve?: 'P-256' | 'P-384' | undefined
  /** The OCSP URL in the leaf and the intermediate (authority information access, RFC 5280 §4.2.2.1). */
  ocsp_url?: string | undefined
  /** Reuses the root of that chain, as when Apple issues a new intermediate. */
  root_of?: Chain | undefined
  /** Reuses the intermediate and root of that chain, as when Apple issues a new leaf. */
  intermediate_of?: Chain | undefined
}

export function newKey(curve: 'P-256' | 'P-384'): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: curve }).privateKey
}

export function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function issueRoot(options: ChainOptions): Issued {
  return issueCertificate({
    name: 'Simulated Root CA',
    key: newKey('P-384'),
    from: options.root_from ?? options.now - 12 * YEAR_MS,
    until: options.root_until ?? options.now + 15 * YEAR_MS,
    isAuthority: true,
  })
}

function issueIntermediate(root: Issued, options: ChainOptions): Issued {
  return issueCertificate({
    name: 'Simulated Developer Relations CA',
    key: newKey(options.intermediate_curve ?? 'P-384'),
    issuer: root,
    from: options.intermediate_from ?? options.now - 10 * YEAR_MS,
    until: options.intermediate_until ?? options.now + 10 * YEAR_MS,
    isAuthority: options.without !== 'ca_flag',
    markers: options.without === 'intermediate_marker' ? [] : [INTERMEDIATE_MARKER],
    ocsp_url: options.ocsp_url,
  })
}

function issueLeaf(intermediate: Issued, options: ChainOptions): Issued {
  return issueCertificate({
    name: 'Simulated Receipt Signing',
    key: newKey(options.leaf_curve ?? 'P-256'),
    issuer: intermediate,
    from: options.leaf_from ?? options.now - 3 * YEAR_MS,
    until: options.leaf_until ?? options.now + 2 * YEAR_MS,
    isAuthority: false,
    markers: options.without === 'leaf_marker' ? [] : [LEAF_MARKER],
    ocsp_url: options.ocsp_url,
  })
}

/**
 * Issues a root (P-384), an intermediate that the root signs, and a leaf (P-256) that the intermediate signs. The leaf
 * is valid from three years before `now` to two years after, so that two years of history verify.
 */
export async function issueChain(options: ChainOptions): Promise<Chain> {
  const reusedChain = options.intermediate_of
  const root = reusedChain?.issued.root ?? options.root_of?.issued.root ?? issueRoot(options)
  const intermediate = reusedChain?.issued.intermediate ?? issueIntermediate(root, options)
  const leaf = issueLeaf(intermediate, options)
  return {
    root_pem: pemOf(root.der),
    chain: [leaf.der, intermediate.der, root.der],
    leaf_key: leaf.key,
    intermediate_key: intermediate.key,
    root_key: root.key,
    issued: { leaf, intermediate, root },
  }
}

function encode(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

/** The JWS header `{alg: 'ES256', x5c}`. `x5c` holds the certificates in standard base64, leaf first. */
export function headerOf(chain: Chain): { alg: string; x5c: string[] } {
  return { alg: 'ES256', x5c: chain.chain.map((der) => der.toString('base64')) }
}

/** Signs a compact JWS with any header and key, for tests with a JWS that Apple would never sign. */
export function signUnder(header: object, payload: object, key: KeyObject): string {
  return signEncoded(encode(header), payload, key)
}

function signEncoded(header: string, payload: object, key: KeyObject): string {
  const text = `${header}.${encode(payload)}`
  return `${text}.${sign('sha256', Buffer.from(text), es256(key)).toString('base64url')}`
}

async function signEncodedAsync(header: string, payload: object, key: KeyObject): Promise<string> {
  const text = `${header}.${encode(payload)}`
  return `${text}.${(await signOnThreadPool('sha256', Buffer.from(text), es256(key))).toString('base64url')}`
}

const es256 = (key: KeyObject) => ({ key, dsaEncoding: 'ieee-p1363' }) as const

/** The authority that signs with an issued chain. */
export function authorityFrom(chain: Chain): Authority {
  const header = encode(headerOf(chain))
  return {
    ...chain,
    sign: (payload) => signEncoded(header, payload, chain.leaf_key),
    signAsync: (payload) => signEncodedAsync(header, payload, chain.leaf_key),
  }
}

/** A new authority. Its certificates are valid around `now` (milliseconds since the epoch). */
export async function openAuthority(options: ChainOptions): Promise<Authority> {
  return authorityFrom(await issueChain(options))
}
