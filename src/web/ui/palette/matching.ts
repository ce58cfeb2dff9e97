/** How well a typed text matches a choice. */
import { type Choice, GROUPS } from './choice.ts'

/** Lower case, without accents. */
const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

const termsOf = (text: string): string[] =>
  folded(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((term) => term !== '')

/** The points for a term: a word of the title, its beginning, a part of it, or the beginning of another word. */
const WHOLE_WORD = 5
const BEGINNING = 4
const PART = 2
const OTHER_WORD = 1
/** Added where the whole title is, or begins with, what was typed. */
const SAME_TITLE = 8
const SAME_BEGINNING = 3

function pointsOf(term: string, title: readonly string[], others: readonly string[]): number | null {
  if (title.includes(term)) return WHOLE_WORD
  if (title.some((word) => word.startsWith(term))) return BEGINNING
  if (term.length > 1 && title.some((word) => word.includes(term))) return PART
  return others.some((word) => word.startsWith(term)) ? OTHER_WORD : null
}

/** The score of a choice; null if a typed word is nowhere in it. */
export function scoreOf(
  text: string,
  { title, words = '', note = '' }: Pick<Choice, 'title' | 'words' | 'note'>,
): number | null {
  const terms = termsOf(text)
  const [titleWords, otherWords] = [termsOf(title), termsOf(`${words} ${note}`)]
  const points = terms.map((term) => pointsOf(term, titleWords, otherWords))
  if (terms.length === 0 || points.includes(null)) return null
  const [typed, whole] = [terms.join(' '), titleWords.join(' ')]
  const bonus = typed === whole ? SAME_TITLE : whole.startsWith(typed) ? SAME_BEGINNING : 0
  return bonus + points.reduce<number>((sum, one) => sum + (one ?? 0), 0) / terms.length
}

export type Group = { title: string; choices: Choice[] }

const MAX_OF_GROUP = 7
const MAX_RECENT = 5

/** What is listed before anything is typed: recent choices, then what is offered. */
function offered(choices: readonly Choice[], recent: readonly string[]): Group[] {
  const known = recent.flatMap((id) => choices.find((one) => one.id === id) ?? []).slice(0, MAX_RECENT)
  const others = choices.filter((one) => one.isOffered && !known.includes(one))
  const groups = GROUPS.map((title) => ({ title, choices: others.filter(({ group }) => group === title) }))
  return [{ title: 'Recent', choices: known }, ...groups].filter((group) => group.choices.length > 0)
}

/**
 * The choices that match a text, in groups. The group with the best match is the first, and so is the best match of a
 * group; of equal ones, the more recent. `recent`: ids, the newest first.
 */
export function groupsFor(text: string, choices: readonly Choice[], recent: readonly string[]): Group[] {
  if (text.trim() === '') return offered(choices, recent)
  const age = (id: string): number => (recent.includes(id) ? recent.indexOf(id) : recent.length)
  const scored = choices.flatMap((choice) => {
    const score = scoreOf(text, choice)
    return score === null ? [] : [{ choice, score }]
  })
  const matches = scored
    .sort((a, b) => b.score - a.score || age(a.choice.id) - age(b.choice.id))
    .map(({ choice }) => choice)
  const titles = new Set(matches.map(({ group }) => group))
  return [...titles].map((title) => ({
    title,
    choices: matches.filter(({ group }) => group === title).slice(0, MAX_OF_GROUP),
  }))
}
