/** Lists of words in a query, as they are parsed and as the OpenAPI document describes them. */
import * as v from 'valibot'
import { jsonSchema } from '../http/documented.ts'

const MAX_LIST = 100

/** The pattern of any word. */
export const ANY_WORD = /^[^,]+$/

/** The pattern of a list for the OpenAPI document. `pattern` is that of a word, from its begin to its end. */
function listPattern(pattern: RegExp): string {
  const word = pattern.source.slice(1, -1)
  return `^,*${word}(,+${word}){0,${MAX_LIST - 1}},*$`
}

/** A list in a query, of words that match `pattern`. `message` is the fault of another word. */
export const wordList = (pattern: RegExp, message: string, description: string) =>
  v.pipe(
    v.string(),
    jsonSchema({ minLength: 1, pattern: listPattern(pattern) }),
    v.transform((text) => text.split(',').filter((word) => word !== '')),
    v.minLength(1, 'must name at least one'),
    v.maxLength(MAX_LIST, `must name at most ${MAX_LIST}`),
    v.check((some) => some.every((word) => pattern.test(word)), message),
    v.description(`${description}, separated by commas`),
  )
