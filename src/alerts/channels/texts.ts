/** Cuts texts to the limits of providers, between characters as people see them. */

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
const ELLIPSIS = '…'

/** The text, cut so that `sizeOf` is at most `limit`, with an ellipsis. */
export function cut(
  text: string,
  limit: number,
  sizeOf: (text: string) => number = (one) => one.length,
): string {
  if (sizeOf(text) <= limit) return text
  let size = sizeOf(ELLIPSIS)
  let kept = ''
  for (const { segment } of segmenter.segment(text)) {
    size += sizeOf(segment)
    if (size > limit) break
    kept += segment
  }
  return `${kept.trimEnd()}${ELLIPSIS}`
}

/** The size of a text in bytes of UTF-8. */
export const bytesOf = (text: string): number => Buffer.byteLength(text)

/** The size of a text in Unicode characters. */
export const charactersOf = (text: string): number => [...text].length

/** A text in one line, without control characters. */
export const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim()
