/** Rejects passwords that are easy to guess. */
import { asset } from '../program/assets.ts'
import { MAX_PASSWORD_BYTES, MIN_PASSWORD_CHARACTERS } from './password_limits.ts'

/** The minimum number of letters that must remain after the words below are removed from a password. */
const MIN_OWN_CHARACTERS = 6

/** Words that an attacker would try first on this product, and words that are common in passwords. */
const PRODUCT_WORDS =
  /windfall|revenue|dashboard|subscriptions?|appstore|apple|itunes|iphone|admin(istrator)?|owner|root|demo|password|passwort|passw0rd|p@ssw0rd|letmein|welcome|secret|changeme|login|setup|qwertz|qwerty|asdf/g

/** With more signs, two common words are no longer easy to guess. */
const MAX_SIGNS = 4

let cached: ReadonlySet<string> | null = null

/** Common passwords and words of at least three characters, in lower case. */
function commonPasswords(): ReadonlySet<string> {
  cached ??= new Set(asset('passwords.txt.br').split('\n'))
  return cached
}

/**
 * Whether a password is one or two common passwords or words, with digits around and a few signs anywhere. Attackers try
 * these before anything else.
 */
function isPairOfCommon(lowerCased: string): boolean {
  const common = commonPasswords()
  const isPair = (text: string): boolean =>
    common.has(text) ||
    Array.from(text, (_, index) => index).some(
      (index) => common.has(text.slice(0, index)) && common.has(text.slice(index)),
    )
  const bare = lowerCased.replace(/[^\p{L}\p{N}]/gu, '')
  if (lowerCased.length - bare.length > MAX_SIGNS) return false
  return isPair(bare) || isPair(bare.replace(/^\p{N}+|\p{N}+$/gu, ''))
}

/** Why a password is too weak, as words that follow “must”; null if it is strong enough. */
export function weaknessOf(password: string): string | null {
  const normalized = password.normalize('NFKC')
  const characters = [...normalized]
  if (characters.length < MIN_PASSWORD_CHARACTERS)
    return `have at least ${MIN_PASSWORD_CHARACTERS} characters`
  if (Buffer.byteLength(normalized) > MAX_PASSWORD_BYTES) return `have at most ${MAX_PASSWORD_BYTES} bytes`
  const lowerCased = normalized.toLowerCase()
  if (commonPasswords().has(lowerCased)) return 'not be a common password'
  if (isRepeated(lowerCased) || isSequence(characters)) return 'not be a repetition or a sequence'
  const ownLetters = lowerCased.replace(PRODUCT_WORDS, '').replace(/[^\p{L}]/gu, '')
  const letters = lowerCased.replace(/[^\p{L}]/gu, '')
  if (ownLetters.length < letters.length && ownLetters.length < MIN_OWN_CHARACTERS)
    return 'not consist only of words like windfall, admin or password'
  return isPairOfCommon(lowerCased) ? 'not be two common words or passwords with digits around them' : null
}

/** “aaaaaaaaaaaa”, “abcabcabcabc”: a repetition of up to four characters. */
const isRepeated = (text: string): boolean =>
  /^(.{1,4}?)\1+(.{0,3})$/su.test(text) && hasPartialRepeatAtEnd(text)

function hasPartialRepeatAtEnd(text: string): boolean {
  const [, unit = '', tail = ''] = /^(.{1,4}?)\1+(.{0,3})$/su.exec(text) ?? []
  return unit.startsWith(tail)
}

/** “123456789012”, “abcdefghijkl”, or the reverse. */
function isSequence(characters: readonly string[]): boolean {
  const steps = characters.slice(1).map((character, index) => {
    const step = (character.codePointAt(0) ?? 0) - (characters[index]?.codePointAt(0) ?? 0)
    // 0 follows 9.
    return step === -9 ? 1 : step === 9 ? -1 : step
  })
  return Math.abs(steps[0] ?? 0) === 1 && steps.every((step) => step === steps[0])
}
