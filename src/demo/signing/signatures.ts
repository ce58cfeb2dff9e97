/** A cache of signatures: the same payload always gets the same signed text. */

/** Signs `content`. The same `of` gets the signature it already has. */
export type Sign = (content: object, of?: object) => string
/** The same, on the thread pool where the authority can do that. */
export type SignAsync = (content: object, of?: object) => Promise<string>

/** What can sign; `signSoon` does it on the thread pool. */
export type Signing = { sign: (payload: object) => string; signAsync?: (payload: object) => Promise<string> }

type Signer = { sign: Sign; signAsync: SignAsync }

type CachedSignature = { header: string; signature: string } | { text: string }

function encode(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

/** ECDSA signatures differ each time, so the signature is stored; the text around it is rebuilt on request. */
function openSigner(authority: Signing): Signer {
  const cached = new WeakMap<object, CachedSignature>()
  let header = ''

  function cacheEntryOf(text: string): CachedSignature {
    const [head, , signature] = text.split('.')
    if (head === undefined || signature === undefined) return { text }
    // One text for all, instead of a copy with each.
    if (header !== head) header = head
    return { header, signature: `${signature} `.trimEnd() }
  }

  function cachedText(content: object, of: object): string | null {
    const known = cached.get(of)
    if (known === undefined) return null
    return 'text' in known ? known.text : `${known.header}.${encode(content)}.${known.signature}`
  }

  function store(of: object, text: string): string {
    cached.set(of, cacheEntryOf(text))
    return text
  }

  const sign: Sign = (content, of = content) => cachedText(content, of) ?? store(of, authority.sign(content))

  async function signAsync(content: object, of = content): Promise<string> {
    if (authority.signAsync === undefined || cached.has(of)) return sign(content, of)
    const text = await authority.signAsync(content)
    // It may have been signed otherwise in the meantime.
    return cachedText(content, of) ?? store(of, text)
  }

  return { sign, signAsync }
}

const signers = new WeakMap<object, Signer>()

function signerFor(authority: Signing): Signer {
  const known = signers.get(authority)
  if (known !== undefined) return known
  const signer = openSigner(authority)
  signers.set(authority, signer)
  return signer
}

/** What signs for an authority: one for all who ask, so that what is pushed and what is fetched are the same text. */
export const signerOf = (authority: Signing): Sign => signerFor(authority).sign

/** The same, on the thread pool; one text with `signerOf`. */
export const asyncSignerOf = (authority: Signing): SignAsync => signerFor(authority).signAsync
