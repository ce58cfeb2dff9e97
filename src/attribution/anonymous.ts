/** What we compute: whether a user id looks like one that an SDK gives an install before anybody signs in. */

/** What public SDKs put before the ids that they make up. */
const PREFIX = /^\$(anon[_:]|RCAnonymousID:|SuperwallAlias:)/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * `sure`: it has the prefix of an SDK. `likely`: it is a bare UUID, as SDKs make up, and as some backends name their
 * users. Null: an id that the app or its backend chose.
 */
export function anonymityOf(app_user_id: string): 'sure' | 'likely' | null {
  if (PREFIX.test(app_user_id)) return 'sure'
  return UUID.test(app_user_id) ? 'likely' : null
}
