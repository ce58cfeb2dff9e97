/** A small Windfall in memory: what calls do to users and links, and the history of each link. */
import type { Answer, Request } from '../../sdk/js/src/environment.ts'

type Call = {
  call: 'identify' | 'attribute'
  appUserId: string
  bundleId: string
  attributes?: Record<string, unknown>
  originalTransactionId?: string
  jws?: string
}

export const answered = (status: number, body: unknown, retryAfter: string | null = null): Answer => ({
  status,
  text: typeof body === 'string' ? body : JSON.stringify(body),
  retryAfter,
})

export function openModelServer() {
  const users = new Map<string, Record<string, unknown>>()
  /** The users of each purchase, without repetitions: the last one holds it. */
  const links = new Map<string, string[]>()
  const calls: Call[] = []

  function accept({ url, body }: Request): Answer {
    const call = { ...JSON.parse(body), call: url.endsWith('identify') ? 'identify' : 'attribute' } as Call
    calls.push(call)
    const { appUserId, bundleId } = call
    if (call.call === 'identify') {
      users.set(appUserId, { ...users.get(appUserId), ...call.attributes })
      return answered(200, { appUserId, bundleId, verification: 'unverified' })
    }
    const originalTransactionId = call.originalTransactionId ?? ''
    const history = links.get(originalTransactionId) ?? []
    const moved = history.length > 0 && history.at(-1) !== appUserId
    if (history.at(-1) !== appUserId) links.set(originalTransactionId, [...history, appUserId])
    return answered(200, { originalTransactionId, appUserId, moved, verification: 'unverified' })
  }

  return { accept, users, links, calls }
}
