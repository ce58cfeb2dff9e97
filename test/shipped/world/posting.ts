/** Posts calls as Apple and SDKs do: again until they are answered, calls with the same key in order. */
import { setTimeout as pass } from 'node:timers/promises'
import { Pool } from 'undici'
import { type Call, PATHS } from '../../faults/load.ts'
import { openModel } from '../../faults/model.ts'

const PAUSE_MS = 400
const CONNECTIONS = 16
/** The answers after which a call is made again. */
const AGAIN = [408, 425, 429, 500, 502, 503, 504]

/** Opens the posting. `model` is what the database must contain, from the calls that were answered. */
export function openPosting(url: string) {
  const pool = new Pool(url, { connections: CONNECTIONS })
  const model = openModel()
  const refused: string[] = []
  const latest = new Map<string, Promise<void>>()
  const running = new Set<Promise<void>>()
  const counts = { answered: 0, again: 0 }

  async function once({ step }: Call, headers: Record<string, string>): Promise<number> {
    const { statusCode, body } = await pool.request({
      path: PATHS[step.kind],
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(step.body),
    })
    const text = await body.text()
    if (statusCode >= 300 && !AGAIN.includes(statusCode)) refused.push(`${step.kind}: ${statusCode} ${text}`)
    return statusCode
  }

  async function untilAnswered(call: Call, headers: Record<string, string>): Promise<void> {
    model.sending(call)
    for (;;) {
      // Without an answer nobody knows whether it is stored.
      const status = await once(call, headers).catch(() => 0)
      if (status === 200) {
        counts.answered += 1
        return model.answered(call)
      }
      if (status !== 0 && !AGAIN.includes(status)) return
      counts.again += 1
      await pass(PAUSE_MS)
    }
  }

  /** Posts a call after those of its key. */
  function post(call: Call, headers: Record<string, string> = {}): Promise<void> {
    const before = call.key === null ? undefined : latest.get(call.key)
    const work = Promise.resolve(before).then(() => untilAnswered(call, headers))
    if (call.key !== null) latest.set(call.key, work)
    running.add(work)
    return work.finally(() => running.delete(work))
  }

  /** Resolves when all calls are answered. */
  async function settled(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running)
  }

  const { users, links, notifications, signed } = model
  return { post, settled, seen: () => ({ users, links, notifications, signed, refused, ...counts }) }
}

export type Seen = ReturnType<ReturnType<typeof openPosting>['seen']>
