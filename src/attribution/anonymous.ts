/** Recognizes user ids that an SDK generates for an install before the user signs in. */

/** Prefixes that public SDKs put before generated ids. */
const PREFIX = /^\$(anon[_:]|RCAnonymousID:|SuperwallAlias:)/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * `sure`: the id has an SDK’s prefix. `likely`: the id is a bare UUID, which SDKs generate and which some backends use
 * as user ids. Null: the app or its backend chose the id.
 */
export function anonymityOf(app_user_id: string): 'sure' | 'likely' | null {
  if (PREFIX.test(app_user_id)) return 'sure'
  return UUID.test(app_user_id) ? 'likely' : null
}
