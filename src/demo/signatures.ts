/** What we remember: signatures that were made, so that the same payload always has the same bytes. */

/** Signs `content`; what is the same `of` was signed before gets the signature it had. */
export type Sign = (content: object, of?: object) => string

type Made = { header: string; signature: string } | { text: string }

function encode(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

/** ECDSA signs differently each time: the signature is kept, and the text around it made again when asked for. */
function openSigner(sign: (payload: object) => string): Sign {
  const made = new WeakMap<object, Made>()
  let header = ''

  function remembered(text: string): Made {
    const [head, , signature] = text.split('.')
    if (head === undefined || signature === undefined) return { text }
    // One text for all, instead of a copy with each.
    if (header !== head) header = head
    return { header, signature: `${signature} `.trimEnd() }
  }

  return (content, of = content) => {
    const known = made.get(of)
    if (known !== undefined)
      return 'text' in known ? known.text : `${known.header}.${encode(content)}.${known.signature}`
    const text = sign(content)
    made.set(of, remembered(text))
    return text
  }
}

const signers = new WeakMap<object, Sign>()

/** What signs for an authority: one for all who ask, so that what is pushed and what is fetched are the same text. */
export function signerOf(authority: { sign: (payload: object) => string }): Sign {
  const known = signers.get(authority)
  if (known !== undefined) return known
  const signer = openSigner((payload) => authority.sign(payload))
  signers.set(authority, signer)
  return signer
}
