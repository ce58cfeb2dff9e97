/** Removes the ids of an erased user from an event. The event itself stays. */

type Body = Record<string, unknown>

/** The user to remove from the events of an app, and the replacement for a cause that contains the user id. */
export type ScrubTarget = { app_id: string; app_user_id: string; replacement: string }

/** The event without the user; the same object if it belongs to another app. */
export function scrubEvent<Event extends { app_id: string | null; type: string; cause: string; data: Body }>(
  event: Event,
  { app_id, app_user_id, replacement }: ScrubTarget,
): Event {
  if (event.app_id !== app_id) return event
  // The cause of customer.identified is the id of the app and the user id.
  const { type, cause } = event
  const isCauseOfUser = type === 'customer.identified' && cause.slice(cause.indexOf('/') + 1) === app_user_id
  return { ...event, cause: isCauseOfUser ? replacement : cause, data: scrubBody(event.data, app_user_id) }
}

/**
 * The body without the user id. `user` becomes null, or keeps only another user that it names; `from_app_user_id`
 * becomes null. An `app_account_token` that equals the user id (Apple writes it in lower case) is removed. Any other
 * text that happens to equal the user id, such as a product id, stays.
 */
function scrubBody(body: Body, app_user_id: string): Body {
  const scrubbed = { ...body }
  const { user, transaction } = body
  if (isBody(user) && (user.app_user_id === app_user_id || user.proved_app_user_id === app_user_id)) {
    scrubbed.user = scrubUser(user, app_user_id)
    if (scrubbed.user === null && 'platform' in body) scrubbed.platform = null
  }
  if (body.from_app_user_id === app_user_id) scrubbed.from_app_user_id = null
  if (isBody(transaction) && isSameId(transaction.app_account_token, app_user_id)) {
    const { app_account_token: _, ...rest } = transaction
    scrubbed.transaction = rest
  }
  return scrubbed
}

/** The claimed and the proved user id may differ, and only one of them may be erased. */
function scrubUser(user: Body, app_user_id: string): Body | null {
  const claimed = user.app_user_id === app_user_id ? null : (user.app_user_id ?? null)
  const isProved = user.proved_app_user_id !== app_user_id
  const proved = isProved ? (user.proved_app_user_id ?? null) : null
  if (claimed === null && proved === null) return null
  return {
    app_user_id: claimed,
    proved_app_user_id: proved,
    verification: 'unverified',
    proofs: isProved ? (user.proofs ?? []) : [],
  }
}

const isSameId = (token: unknown, app_user_id: string): boolean =>
  typeof token === 'string' && token.toLowerCase() === app_user_id.toLowerCase()

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null
