/** Removes an erased user from a body, before and after it is serialized. */
import { type ScrubTarget, scrubEvent } from '../../events/scrubbed.ts'

/** The fields of a body's `data` that can name a user. */
type NamingData = {
  app_id: string | null
  type: string
  cause: string
  data: Record<string, unknown>
  customer: { users: readonly { app_user_id: string }[] } | null
}

/** The `data` of a body without the user; the same object if it belongs to another app. */
export function scrubData<Data extends NamingData>(data: Data, target: ScrubTarget): Data {
  if (data.app_id !== target.app_id) return data
  const { customer } = data
  const users = customer?.users.filter(({ app_user_id }) => app_user_id !== target.app_user_id)
  return { ...scrubEvent(data, target), customer: customer && { ...customer, users } }
}

/** A finished body without the user; the same Buffer if it does not name the user. */
export function scrubBody(body: Buffer, target: ScrubTarget): Buffer {
  const text = body.toString()
  if (!mayName(text, target.app_user_id)) return body
  const parsed: { data?: NamingData } = JSON.parse(text)
  // Apple's own notifications, which other endpoints receive, have no `data`.
  if (parsed.data === undefined) return body
  const scrubbed = JSON.stringify({ ...parsed, data: scrubData(parsed.data, target) })
  return scrubbed === text ? body : Buffer.from(scrubbed)
}

/** Whether a text contains a user id, which is much cheaper than to parse it. Apple writes its tokens in lower case. */
function mayName(text: string, app_user_id: string): boolean {
  const needle = JSON.stringify(app_user_id).slice(1, -1)
  return text.includes(needle) || text.toLowerCase().includes(needle.toLowerCase())
}
