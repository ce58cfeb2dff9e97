/** The baseline: a process that posts bodies with a bare undici pool. It stores and signs nothing. */
import { Pool } from 'undici'
import { serveRequests } from '../child.ts'

/** `bytes`: the size of each body. */
export type BareRequest = { url: string; requests: number; concurrency: number; bytes: number }

const HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'Windfall',
  'webhook-id': 'evt_0123456789abcdef01234567',
  'webhook-timestamp': '1800000000',
  'webhook-signature': `v1,${'a'.repeat(43)}=`,
  'windfall-attempt': '1',
}

async function send({ url, requests, concurrency, bytes }: BareRequest): Promise<object> {
  const pool = new Pool(url, { connections: concurrency, pipelining: 1 })
  const body = Buffer.alloc(bytes, 'a')
  let left = requests
  async function sendAll(): Promise<void> {
    while (left > 0) {
      left -= 1
      const response = await pool.request({ path: '/hooks', method: 'POST', headers: HEADERS, body })
      await response.body.text()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, sendAll))
  await pool.close()
  return {}
}

serveRequests<BareRequest>(send, async () => {})
