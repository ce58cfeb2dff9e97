/** Suggests the closest valid name for a misspelled one. */
import { distance } from 'fastest-levenshtein'

/** The maximum number of edits: one in a short word, up to four in a long one. */
function maxDistance(word: string): number {
  return word.length <= 3 ? 1 : Math.max(2, Math.min(4, Math.floor(word.length * 0.4)))
}

/** The edit distance of two words. A missing ending (warn, warning) counts as one edit. */
function editDistance(word: string, name: string): number {
  const [short, long] = word.length < name.length ? [word, name] : [name, word]
  const missingCount = long.length - short.length
  return short.length >= 4 && missingCount > 0 && missingCount <= 4 && long.startsWith(short)
    ? 1
    : distance(word, name)
}

/** The candidate whose name is closest to `word`, ignoring case; null if none is close. The first of several wins. */
export function closestMatch<T>(
  word: string,
  candidates: readonly T[],
  nameOf: (candidate: T) => string,
): T | null {
  let best: T | null = null
  let least = maxDistance(word) + 1
  for (const candidate of candidates) {
    const edits = editDistance(word.toLowerCase(), nameOf(candidate).toLowerCase())
    if (edits >= least) continue
    best = candidate
    least = edits
  }
  return best
}
