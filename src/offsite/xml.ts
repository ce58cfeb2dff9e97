/** Reads the XML of S3, whose elements have no attributes of interest and whose values have no elements. */

/** An object in a bucket. `modified_at` is in ms since the epoch. */
export type StoredObject = Readonly<{ key: string; bytes: number; modified_at: number }>

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const MAX_CODE_POINT = 0x10_ff_ff

/** The text of the first element with this name; null if there is none. */
export function fieldOf(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text === undefined ? null : unescaped(text)
}

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const point = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal)
    return point > MAX_CODE_POINT ? whole : String.fromCodePoint(point)
  })

/**
 * A page of a list of objects. `next` is the token of the next page, null on the last. Null if it is no such page, or a
 * part of it is missing. The time is linear in the length.
 */
export function readListing(xml: string): { objects: StoredObject[]; next: string | null } | null {
  if (!xml.includes('<ListBucketResult')) return null
  const [head = '', ...contents] = xml.split('<Contents>')
  const objects = contents.map((content) => ({
    key: fieldOf(content, 'Key') ?? '',
    bytes: Number(fieldOf(content, 'Size') ?? Number.NaN),
    modified_at: Date.parse(fieldOf(content, 'LastModified') ?? ''),
  }))
  const fields = [head, contents.at(-1)?.split('</Contents>')[1] ?? ''].join('')
  const isTruncated = fieldOf(fields, 'IsTruncated') === 'true'
  const next = isTruncated ? fieldOf(fields, 'NextContinuationToken') : null
  const isWhole = objects.every(
    ({ key, bytes, modified_at }) => key !== '' && bytes >= 0 && !Number.isNaN(modified_at),
  )
  return isWhole && isTruncated === (next !== null) && xml.includes('</ListBucketResult>')
    ? { objects, next }
    : null
}
