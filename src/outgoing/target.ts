/** Checks the URL of an outgoing request before anything is resolved. */

/** The maximum number of characters of a URL. */
const MAX_URL_LENGTH = 2048

/**
 * Parses a URL that a person entered. It must be an absolute http or https URL without user info, fragment and port 0,
 * of at most 2,048 characters. Otherwise `refusal` says in whole sentences what to change.
 *
 * The address is not checked here: the dispatcher checks it whenever it connects.
 */
export function parseTarget(text: string): Readonly<{ url: URL } | { refusal: string }> {
  if (text.length > MAX_URL_LENGTH) return { refusal: 'The URL is longer than 2,048 characters.' }
  if (/[\s\p{Cc}]/u.test(text)) return { refusal: 'The URL contains white space or a control character.' }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== 'http' && scheme !== 'https') return { refusal: 'The URL does not begin with https://.' }
  // The URL parser skips extra slashes, so that the first part of the path would become the host.
  if (!/^[a-z]+:\/\/[^/\\?#]/i.test(text)) return { refusal: 'The URL has no host.' }
  if (!URL.canParse(text)) return { refusal: 'The URL is invalid. Check its host and its port.' }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    return { refusal: 'The URL contains a user name or a password. Use a header for credentials.' }
  if (text.includes('#')) return { refusal: 'The URL has a fragment (#), which is never sent. Remove it.' }
  if (url.port === '0') return { refusal: 'The URL has port 0, to which nothing can connect.' }
  return { url }
}
