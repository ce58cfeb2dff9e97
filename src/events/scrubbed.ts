/** What we compute: a body without somebody who was forgotten. What happened stays; to whom does not. */

type Body = Record<string, unknown>

/** Who is taken out of the events of an app, and what stands in place of a cause that names them. */
export type ScrubTarget = { app_id: string; app_user_id: string; replacement: string }

/** An event as it was, without somebody; the same one where it does not name them. */
export function scrubEvent<Event extends { app_id: string | null; type: string; cause: string; data: Body }>(
  event: Event,
  { app_id, app_user_id, replacement }: ScrubTarget,
): Event {
  if (event.app_id !== app_id) return event
  // What tells of a user for the first time has the user id as its cause, after that of the app.
  const { type, cause } = event
  const isCause = type === 'customer.identified' && cause.slice(cause.indexOf('/') + 1) === app_user_id
  return { ...event, cause: isCause ? replacement : cause, data: scrubBody(event.data, app_user_id) }
}

/**
 * The same body without the user id: nobody is its `user`, or only whoever else is named there; `from_app_user_id` is
 * null. An `app_account_token` that is the user id itself (Apple writes it in small letters) goes, too. Any other text
 * that happens to be the same, as the id of a product, stays.
 */
function scrubBody(body: Body, app_user_id: string): Body {
  const scrubbed = { ...body }
  const { user, transaction } = body
  if (isBody(user) && (user.app_user_id === app_user_id || user.proved_app_user_id === app_user_id)) {
    scrubbed.user = scrubUser(user, app_user_id)
    if (scrubbed.user === null && 'platform' in body) scrubbed.platform = null
  }
  if (body.from_app_user_id === app_user_id) scrubbed.from_app_user_id = null
  if (isBody(transaction) && isSame(transaction.app_account_token, app_user_id)) {
    const { app_account_token: _, ...rest } = transaction
    scrubbed.transaction = rest
  }
  return scrubbed
}

/** What was claimed and what was proved may name two people, of whom one is forgotten. */
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

const isSame = (token: unknown, app_user_id: string): boolean =>
  typeof token === 'string' && token.toLowerCase() === app_user_id.toLowerCase()

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null
