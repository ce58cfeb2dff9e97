/** Requests of the owner's session to the routes of webhooks. */
import type { Received } from '../../forwarding/receiving.ts'
import { openForwardingApp, openHttpReceiver } from '../../forwarding/receiving.ts'
import type { TestOptions } from '../../helpers.ts'

type Json = Record<string, unknown> & { code?: string; detail?: string }

/** A Windfall with a receiver on 127.0.0.1, and functions that call the API as the owner. */
export async function openWebhooks(options: TestOptions = {}) {
  const app = await openForwardingApp(options)
  const receiver = await openHttpReceiver()
  const session = await app.signIn()

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = session,
  ) {
    const response = await app.request(`/api/v1/${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Json }
  }

  /** Creates an endpoint at the receiver, or as `fields` say. */
  async function create(fields: object = {}): Promise<{ id: string; secret: string }> {
    const { status, body } = await call('POST', 'endpoints', { url: receiver.url, ...fields })
    if (status !== 201) throw new Error(`${status} ${body.detail}`)
    const { id } = body.endpoint as { id: string }
    return { id, secret: String(body.secret) }
  }

  const audited = async (): Promise<string[]> => {
    const { body } = await call('GET', 'audit')
    const entries = body.entries as { action: string; detail: string | null }[]
    return entries.map(({ action, detail }) => `${action} ${detail}`).toReversed()
  }

  const bodiesOf = (requests: readonly Received[]) => requests.map(({ body }) => JSON.parse(body))

  return { app, receiver, call, create, audited, bodiesOf }
}
