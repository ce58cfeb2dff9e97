/** What we compute: whether a password is one that somebody would guess. */
import { createRequire } from 'node:module'

export const MIN_CHARACTERS = 12
export const MAX_BYTES = 512
/** What is left of a password without the words below has to have so many characters. */
const MIN_OWN_CHARACTERS = 6

declare const BUNDLED_PASSWORDS: string | undefined

/** What whoever tries would try first here, and what stands beside it in passwords. */
const PRODUCT_WORDS =
  /windfall|revenue|dashboard|subscriptions?|appstore|apple|itunes|iphone|admin(istrator)?|owner|root|demo|password|passwort|passw0rd|p@ssw0rd|letmein|welcome|secret|changeme|login|setup|qwertz|qwerty|asdf/g

let cached: ReadonlySet<string> | null = null

/** The common ones that are long enough to be chosen: written into the bundle when it is built, else from the package. */
function commonPasswords(): ReadonlySet<string> {
  cached ??= new Set(
    typeof BUNDLED_PASSWORDS === 'string' ? BUNDLED_PASSWORDS.split('\n') : loadFromPackage(),
  )
  return cached
}

function loadFromPackage(): string[] {
  const { dictionary } = createRequire(import.meta.url)('@zxcvbn-ts/language-common')
  return dictionary['passwords-common'].filter((word: string) => word.length >= MIN_CHARACTERS)
}

/** Why a password cannot be taken, in words that follow “must”; null where it can. */
export function weaknessOf(password: string): string | null {
  const plain = password.normalize('NFKC')
  const characters = [...plain]
  if (characters.length < MIN_CHARACTERS) return `have at least ${MIN_CHARACTERS} characters`
  if (Buffer.byteLength(plain) > MAX_BYTES) return `have at most ${MAX_BYTES} bytes`
  const small = plain.toLowerCase()
  if (commonPasswords().has(small)) return 'not be a password that many people have'
  if (isRepeated(small) || isSequence(characters)) return 'not be a repetition or a sequence'
  const own = small.replace(PRODUCT_WORDS, '').replace(/[^\p{L}]/gu, '')
  const had = small.replace(/[^\p{L}]/gu, '')
  if (own.length < had.length && own.length < MIN_OWN_CHARACTERS)
    return 'not be made of words like windfall, admin or password alone'
  return null
}

/** `aaaaaaaaaaaa`, `abcabcabcabc`: up to four characters, again and again. */
const isRepeated = (text: string): boolean => /^(.{1,4}?)\1+(.{0,3})$/su.test(text) && startsAgain(text)

function startsAgain(text: string): boolean {
  const [, unit = '', rest = ''] = /^(.{1,4}?)\1+(.{0,3})$/su.exec(text) ?? []
  return unit.startsWith(rest)
}

/** `123456789012`, `abcdefghijkl`, or the same backwards. */
function isSequence(characters: readonly string[]): boolean {
  const steps = characters.slice(1).map((one, index) => {
    const step = (one.codePointAt(0) ?? 0) - (characters[index]?.codePointAt(0) ?? 0)
    // After 9 comes 0.
    return step === -9 ? 1 : step === 9 ? -1 : step
  })
  return Math.abs(steps[0] ?? 0) === 1 && steps.every((step) => step === steps[0])
}
