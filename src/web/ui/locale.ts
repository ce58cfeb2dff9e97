/**
 * The viewer's variant of English. The interface is English: dates, digits and country names of another language would mix
 * two languages, and two directions of writing.
 */
export const locale = navigator.languages.find((language) => /^en\b/i.test(language)) ?? 'en-US'

/** Makes a value at its first use. Formats of Intl take milliseconds each, and a view needs few of them. */
export function whenNeeded<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => {
    made ??= make()
    return made
  }
}
