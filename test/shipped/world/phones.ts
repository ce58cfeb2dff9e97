/**
 * A process: what alerts are sent to. An address for JSON, a server like Telegram's with its limit for a chat, one like
 * ntfy's with its limit of requests, an SMTP server, and a service of Web Push. Each fails now and then, and remembers
 * what it accepted.
 */
import { createECDH, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import ece from 'http_ece'
import { SMTPServer } from 'smtp-server'
import { answer, givenArguments } from './answering.ts'

/**
 * A message that a provider accepted. `id` is that of the message; Web Push gets only its topic, Telegram and ntfy only its
 * words, the title in the first line.
 */
export type Accepted = { channel: string; id: string; at: number }

/** `isTimeless`: the limits of providers, which depend on time, do not hold. */
const { cert, key, isTimeless } = givenArguments<{ cert: string; key: string; isTimeless: boolean }>()
/** One request in this many fails. */
const FAIL_EVERY = 9
const NTFY = { requests: 60, refill_ms: 5_000 }
const CHAT_MS = 1_000

const accepted: Accepted[] = []
const faults: string[] = []
const counts = new Map<string, number>()

/** Whether a channel fails now. */
function isFailing(channel: string): boolean {
  const count = (counts.get(channel) ?? 0) + 1
  counts.set(channel, count)
  return count % FAIL_EVERY === 0
}

const accept = (channel: string, id: string): void => void accepted.push({ channel, id, at: Date.now() })

const reply = (response: ServerResponse, status: number, body: object = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

let chat_at = 0

/** https://core.telegram.org/bots/api#html-style */
const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"' }
const unescaped = (html: string): string => html.replace(/&\w+;/g, (one) => ENTITIES[one] ?? one)

/** https://core.telegram.org/bots/api#making-requests */
function telegram(body: Buffer, response: ServerResponse): void {
  const { text, chat_id } = JSON.parse(body.toString())
  const now = Date.now()
  if (!isTimeless && now - chat_at < CHAT_MS / 2) {
    const error = { ok: false, error_code: 429, description: 'Too Many Requests: retry after 2' }
    return reply(response, 429, { ...error, parameters: { retry_after: 2 } })
  }
  chat_at = now
  if (isFailing('telegram')) return reply(response, 502, { ok: false, description: 'Bad Gateway' })
  const [, title, words] = /^<b>(.*)<\/b>\n([\s\S]*)\n<a href="[^"]*">Open<\/a>$/.exec(String(text)) ?? []
  if (title === undefined || chat_id === undefined) faults.push(`Telegram got ${body}`)
  accept('telegram', unescaped(`${title}\n${words}`))
  reply(response, 200, { ok: true, result: { message_id: accepted.length } })
}

let tokens = NTFY.requests
setInterval(() => {
  tokens = Math.min(NTFY.requests, tokens + 1)
}, NTFY.refill_ms).unref()

/** https://docs.ntfy.sh/publish/#limitations */
function ntfy(body: Buffer, response: ServerResponse): void {
  const { title, message, topic } = JSON.parse(body.toString())
  if (!isTimeless && tokens < 1)
    return reply(response, 429, { code: 42_901, http: 429, error: 'limit reached: too many requests' })
  tokens -= 1
  if (isFailing('ntfy'))
    return reply(response, 500, { code: 50_001, http: 500, error: 'internal server error' })
  if (topic === undefined) faults.push(`ntfy got ${body}`)
  accept('ntfy', `${title}\n${message}`)
  reply(response, 200, { id: String(accepted.length), event: 'message', topic })
}

function hook(body: Buffer, response: ServerResponse): void {
  if (isFailing('hook')) return reply(response, 503)
  accept('hook', JSON.parse(body.toString()).id)
  reply(response, 200)
}

const browser = createECDH('prime256v1')
const p256dh = browser.generateKeys('base64url')
const auth = randomBytes(16).toString('base64url')

/** RFC 8030 and RFC 8291. */
function push({ headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
  if (isFailing('push')) return void response.writeHead(500).end()
  try {
    const text = ece.decrypt(body, { version: 'aes128gcm', privateKey: browser, authSecret: auth }).toString()
    const { tag } = JSON.parse(text).notification
    if (headers.topic !== tag) faults.push(`push: topic ${headers.topic}, tag ${tag}`)
    accept('push', tag)
  } catch (error) {
    faults.push(`push: ${error}`)
  }
  response.writeHead(201).end()
}

const listener =
  (route: (request: IncomingMessage, body: Buffer, response: ServerResponse) => void): RequestListener =>
  (request, response) => {
    bytesOf(request).then(
      (body) => route(request, body, response),
      () => response.destroy(),
    )
  }

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const port = await portOf(
  createServer(
    listener((request, body, response) => {
      if (request.url === '/hook') return hook(body, response)
      if (request.url?.startsWith('/bot')) return telegram(body, response)
      return ntfy(body, response)
    }),
  ),
)
const push_port = await portOf(createSecureServer({ cert, key }, listener(push)))

const mail = new SMTPServer({
  authOptional: true,
  logger: false,
  disabledCommands: ['STARTTLS'],
  onMailFrom(_address, _session, done) {
    if (isFailing('mail')) return done(Object.assign(new Error('try again later'), { responseCode: 451 }))
    done()
  },
  onData(stream, _session, done) {
    let text = ''
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    stream.on('end', () => {
      const id = /^message-id: <([^@>]+)@/im.exec(text)?.[1]
      if (id === undefined) faults.push(`a mail without an id: ${text.slice(0, 500)}`)
      accept('mail', id ?? '')
      done()
    })
  },
})
mail.on('error', () => {})
const listening = mail.listen(0, '127.0.0.1')
await once(listening, 'listening')
const mail_port = (listening.address() as AddressInfo).port

export type PhoneQuestions = typeof questions
const questions = {
  ports: () => ({ http: port, push: push_port, mail: mail_port }),
  subscription: () => ({ endpoint: `https://localhost:${push_port}/send/phone`, keys: { p256dh, auth } }),
  seen: () => ({ accepted, faults }),
}
answer(questions)
