/** Code that verifies the signature of a request, in several languages. The secret is left out. */
import type { Endpoint } from '../webhook_queries.ts'
import type { Language, Variant } from './languages.ts'
import { LIBRARY_SNIPPETS } from './library_snippets.ts'
import { PLAIN_SNIPPETS } from './plain_snippets.ts'

const hasLibrary = (language: Language): language is keyof typeof LIBRARY_SNIPPETS =>
  language in LIBRARY_SNIPPETS

/** The variants of a language: with the package, if there is one, and without. */
export const variantsOf = (language: Language): Variant[] =>
  hasLibrary(language) ? ['library', 'plain'] : ['plain']

/** The verification code, without the package if the language has none. */
export const verificationSnippet = (language: Language, variant: Variant, kind: Endpoint['kind']): string =>
  variant === 'library' && hasLibrary(language)
    ? LIBRARY_SNIPPETS[language](kind)
    : PLAIN_SNIPPETS[language](kind)
