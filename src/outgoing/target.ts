/** Checks the URL of an outgoing request before anything is resolved. */
import { faultOfTargetUrl } from '../config/endpoint_values.ts'

/**
 * Parses a URL that a person entered. Otherwise `refusal` says in a whole sentence what to change.
 *
 * The address is not checked here: the dispatcher checks it whenever it connects.
 */
export function parseTarget(text: string): Readonly<{ url: URL } | { refusal: string }> {
  const fault = faultOfTargetUrl(text)
  return fault === null ? { url: new URL(text) } : { refusal: `The URL ${fault}.` }
}
