/** A cache of signatures: the same payload always gets the same signed text. */

/** Signs `content`. Calls with the same `identity` return the same signature. `identity` defaults to `content`. */
export type Sign = (content: object, identity?: object) => string
/** The same as `Sign`, on the thread pool if the authority has `signAsync`. */
export type SignAsync = (content: object, identity?: object) => Promise<string>

/** An authority that signs. `signAsync` signs on the thread pool. */
export type Signing = { sign: (payload: object) => string; signAsync?: (payload: object) => Promise<string> }

type Signer = { sign: Sign; signAsync: SignAsync }

type CachedSignature = { header: string; signature: string } | { text: string }

function encode(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

/** ECDSA signatures differ each time, so each signature is cached. The text around it is rebuilt for each call. */
function openSigner(authority: Signing): Signer {
  const cacheByIdentity = new WeakMap<object, CachedSignature>()
  let header = ''

  function cacheEntryOf(text: string): CachedSignature {
    const [head, , signature] = text.split('.')
    if (head === undefined || signature === undefined) return { text }
    // All entries share one header string, instead of a copy for each entry.
    if (header !== head) header = head
    return { header, signature: `${signature} `.trimEnd() }
  }

  function cachedText(content: object, identity: object): string | null {
    const entry = cacheByIdentity.get(identity)
    if (entry === undefined) return null
    return 'text' in entry ? entry.text : `${entry.header}.${encode(content)}.${entry.signature}`
  }

  function store(identity: object, text: string): string {
    cacheByIdentity.set(identity, cacheEntryOf(text))
    return text
  }

  const sign: Sign = (content, identity = content) =>
    cachedText(content, identity) ?? store(identity, authority.sign(content))

  async function signAsync(content: object, identity = content): Promise<string> {
    if (authority.signAsync === undefined || cacheByIdentity.has(identity)) return sign(content, identity)
    const text = await authority.signAsync(content)
    // Another call may have signed the same content in the meantime.
    return cachedText(content, identity) ?? store(identity, text)
  }

  return { sign, signAsync }
}

const signerByAuthority = new WeakMap<object, Signer>()

function signerFor(authority: Signing): Signer {
  const entry = signerByAuthority.get(authority)
  if (entry !== undefined) return entry
  const signer = openSigner(authority)
  signerByAuthority.set(authority, signer)
  return signer
}

/**
 * The cached signer of an authority. All callers share one cache, so that a pushed notification and the same
 * notification in the history have the same text.
 */
export const signerOf = (authority: Signing): Sign => signerFor(authority).sign

/** The same as `signerOf`, on the thread pool and with the same cache. */
export const asyncSignerOf = (authority: Signing): SignAsync => signerFor(authority).signAsync
