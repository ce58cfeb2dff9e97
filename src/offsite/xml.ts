/** Reads the XML of S3, whose elements have no attributes of interest and whose values have no elements. */

/** An object in a bucket. `modified_at` is in ms since the epoch. */
export type StoredObject = Readonly<{ key: string; bytes: number; modified_at: number }>

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element with this name; null if there is none. */
export function fieldOf(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text === undefined ? null : unescaped(text)
}

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal))
  })

/** A page of a list of objects. `next` is the token of the next page, null on the last. Null if it is no such page. */
export function readListing(xml: string): { objects: StoredObject[]; next: string | null } | null {
  if (!xml.includes('<ListBucketResult')) return null
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, content = '']) => ({
    key: fieldOf(content, 'Key') ?? '',
    bytes: Number(fieldOf(content, 'Size')),
    modified_at: Date.parse(fieldOf(content, 'LastModified') ?? ''),
  }))
  const isTruncated = fieldOf(xml, 'IsTruncated') === 'true'
  return { objects, next: isTruncated ? fieldOf(xml, 'NextContinuationToken') : null }
}
