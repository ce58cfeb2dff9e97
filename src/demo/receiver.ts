/** The backend of the demo: it receives webhooks, verifies them, fails now and then, and shows what arrived. */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import { signaturesOf } from '../forwarding/sending/signature.ts'

/** A received request. `status`: how the receiver answered. */
type Received = { at: number; id: string; type: string; attempt: string; status: number; result: string }

const MINUTE_MS = 60_000
/** The receiver is down for the last two of every twelve minutes. */
const DOWN_EVERY_MS = 12 * MINUTE_MS
const DOWN_MS = 2 * MINUTE_MS
/** One request in this many gets a 500. */
const FAIL_EVERY = 15
const MAX_SHOWN = 100
const TOLERANCE_S = 300
const MAX_BODY_BYTES = 1_048_576

export type DemoReceiver = Awaited<ReturnType<typeof openDemoReceiver>>

/** Opens the receiver on a free port of 127.0.0.1. `expect` sets the secret that it verifies with. */
export async function openDemoReceiver(clock: Clock) {
  const received: Received[] = []
  const known = new Set<string>()
  let secret: string | null = null
  let count = 0

  function receive(request: IncomingMessage, body: Buffer): number {
    count += 1
    const id = textOf(request.headers['webhook-id'])
    const [status, result] = judge(request, body)
    const type = typeOf(body)
    received.unshift({
      at: clock(),
      id,
      type,
      attempt: textOf(request.headers['windfall-attempt']),
      status,
      result,
    })
    received.length = Math.min(received.length, MAX_SHOWN)
    if (status === 200) known.add(id)
    return status
  }

  /** Fails on purpose, refuses invalid signatures, and recognizes what it has already. */
  function judge(request: IncomingMessage, body: Buffer): [status: number, result: string] {
    const now = clock()
    if (now % DOWN_EVERY_MS >= DOWN_EVERY_MS - DOWN_MS) return [503, 'down on purpose']
    if (count % FAIL_EVERY === 0) return [500, 'failed on purpose']
    if (!isValid(request, body, { secret, now })) return [401, 'the signature is invalid']
    const isKnown = known.has(textOf(request.headers['webhook-id']))
    return [200, isKnown ? 'verified, received before' : 'verified']
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    if (request.method === 'POST') return void response.writeHead(receive(request, body)).end()
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }
    response.writeHead(200, headers).end(pageOf(received))
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver of the demo has no port')
  return {
    url: `http://127.0.0.1:${address.port}/`,
    port: address.port,
    expect: (signing: string): void => {
      secret = signing
    },
    received: (): readonly Received[] => received,
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Verifies a request as Standard Webhooks describes. */
function isValid(
  { headers }: IncomingMessage,
  body: Buffer,
  { secret, now }: { secret: string | null; now: number },
): boolean {
  const id = textOf(headers['webhook-id'])
  const timestamp = Number(textOf(headers['webhook-timestamp']))
  if (secret === null || !(Math.abs(now / 1_000 - timestamp) <= TOLERANCE_S)) return false
  const expected = Buffer.from(signaturesOf([secret], { id, timestamp, body }))
  return textOf(headers['webhook-signature'])
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > MAX_BODY_BYTES) throw new Error('the body is too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

function typeOf(body: Buffer): string {
  try {
    return String((JSON.parse(body.toString()) as { type?: unknown }).type)
  } catch {
    return 'not JSON'
  }
}

const textOf = (header: string | string[] | undefined): string => String(header ?? '')

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

function pageOf(received: readonly Received[]): string {
  const rows = received.map(({ at, ...row }) => {
    const cells = [
      new Date(at).toISOString().slice(11, 19),
      row.type,
      row.id,
      row.attempt,
      String(row.status),
    ]
    return `<tr class="${row.status === 200 ? 'ok' : 'failed'}">${[...cells, row.result]
      .map((cell) => `<td>${escaped(cell)}</td>`)
      .join('')}</tr>`
  })
  const empty =
    '<tr><td colspan="6">Nothing has arrived yet. The next purchase comes within seconds.</td></tr>'
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3">
<meta name="viewport" content="width=device-width"><title>The backend of the demo</title>
<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui;margin:2rem;max-width:70rem}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8884}.failed{color:light-dark(#b3261e,#ff8a80)}td{overflow-wrap:anywhere}
@media(max-width:640px){body{margin:1rem}th{display:none}tr{display:flex;flex-wrap:wrap;border-bottom:1px solid #8884}td{border:0}}</style>
<main><h1>The backend of the demo</h1>
<p>It receives the webhooks of the demo and verifies each signature. One request in ${FAIL_EVERY} gets a 500, and for two of
every twelve minutes everything gets a 503, so that you see retries.</p>
<table><tr><th>Time (UTC)</th><th>Type</th><th>webhook-id</th><th>Attempt</th><th>Status</th><th>Result</th></tr>
${rows.join('\n') || empty}</table></main></html>`
}
