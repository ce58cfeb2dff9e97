/** The command `windfall webhooks listen`: a receiver on this machine that verifies and prints deliveries. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineCommand } from 'citty'
import * as v from 'valibot'
import { systemClock } from '../../clock.ts'
import { ConfigError } from '../../config/checks/issues.ts'
import { endpointSecret } from '../../config/endpoint_values.ts'
import { tomlText } from '../../config/setting.ts'
import { codeOf } from '../../config/sources/files.ts'
import { Refusal } from '../../errors.ts'
import { parse } from '../../http/parse.ts'
import { configArg, stripControls } from '../instance/instance.ts'
import { loadWithTypes } from '../instance/load.ts'
import { print, printError } from '../instance/output.ts'
import { stopSignal } from '../serve.ts'
import { faultOfSignature } from './verify.ts'

const HOST = '127.0.0.1'
const MAX_BODY_BYTES = 2_097_152

type Options = { secret: string | null; status: number }

export const listenCommand = defineCommand({
  meta: { name: 'listen', description: 'Receive, verify and print deliveries on this machine, for trying' },
  args: {
    port: { type: 'string', default: '0', valueHint: 'PORT', description: 'The port; 0 is any free port' },
    secret: {
      type: 'string',
      valueHint: 'WHSEC',
      description: 'The secret to verify with; WINDFALL_WEBHOOK_SECRET keeps it out of the shell’s history',
    },
    status: { type: 'string', default: '200', valueHint: 'STATUS', description: 'The status to answer' },
    ...configArg,
  },
  async run({ args }) {
    const text = args.secret ?? process.env.WINDFALL_WEBHOOK_SECRET ?? null
    const secret = text === null ? null : parse(v.object({ secret: endpointSecret }), { secret: text }).secret
    const status = parseWhole('status', args.status, { min: 200, max: 599 })
    const port = parseWhole('port', args.port, { min: 0, max: 65_535 })
    const allow = allowedIn(args.config)
    const receiver = await openReceiver(port, { secret, status })
    print(`Listening on ${receiver.url}`)
    const entry = `${HOST}/32:${new URL(receiver.url).port}`
    const list = tomlText([...allow, entry])
    if (![HOST, `${HOST}/32`, entry].some((one) => allow.includes(one)))
      printError(`Windfall sends to it if the section [outbound] of config.toml has: allow = ${list}`)
    printError(`To receive events: windfall webhooks add ${receiver.url}`)
    if (secret === null) printError('Signatures are not verified: set WINDFALL_WEBHOOK_SECRET.')
    await stopSignal()
    await receiver.close()
  },
})

/** What the configuration permits; nothing if it is invalid, which does not keep a receiver from listening. */
function allowedIn(path: string | undefined): readonly string[] {
  // It is no setting, so the configuration would be refused with it.
  const { WINDFALL_WEBHOOK_SECRET: _, ...env } = process.env
  try {
    return loadWithTypes({ path, env, cwd: process.cwd() }).config.outbound.allow
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
}

function parseWhole(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text)
  if (/^\d{1,5}$/.test(text) && value >= min && value <= max) return value
  throw new Refusal(400, 'invalid_request', `--${name} must be a number from ${min} to ${max}, not ${text}`)
}

async function openReceiver(port: number, options: Options) {
  const server = createServer((request, response) => void receive(request, response, options))
  const listening = once(server, 'listening')
  server.listen(port, HOST)
  await listening.catch((error: unknown) => {
    if (codeOf(error) !== 'EADDRINUSE') throw error
    const detail = `port ${port} is in use; set another --port, or 0 for any free port`
    throw new Refusal(409, 'no_port', detail)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${HOST}:${bound}/`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function receive(request: IncomingMessage, response: ServerResponse, options: Options): Promise<void> {
  try {
    const body = await bodyOf(request)
    print(lineOf(request, body, options))
    response.writeHead(options.status).end()
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error))
    response.destroy()
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error('A request was larger than 2 MiB.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A delivery as a line: type, id, attempt, and whether its signature is right. */
function lineOf({ headers, method }: IncomingMessage, body: Buffer, { secret }: Options): string {
  const header = (name: string): string =>
    String(headers[`webhook-${name}`] ?? headers[`windfall-${name}`] ?? '')
  const id = header('id')
  if (id === '') return `${method ?? ''} without webhook-id: not a delivery`
  const signed = { id, timestamp: header('timestamp'), signatures: header('signature'), body }
  const fault = secret === null ? 'no secret' : faultOfSignature(secret, signed, systemClock())
  const attempt = `attempt ${headers['windfall-attempt'] ?? '?'}`
  const replay = headers['windfall-replay'] === undefined ? [] : ['replayed']
  const verdict = fault === null ? 'verified' : `not verified: ${fault}`
  return stripControls([typeOf(body), id, attempt, ...replay, verdict].join('  '))
}

/** The type of an event. A notification of Apple has none in its body. */
function typeOf(body: Buffer): string {
  try {
    const json: unknown = JSON.parse(body.toString())
    const { type } = v.parse(v.object({ type: v.optional(v.string(), 'signedPayload') }), json)
    return type
  } catch {
    return 'not JSON'
  }
}
