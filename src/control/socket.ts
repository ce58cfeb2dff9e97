/** The local control socket, through which CLI commands reach the server that has the database open. */
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as v from 'valibot'
import { Refusal } from '../errors.ts'
import { parse } from '../http/parse.ts'
import type { Log } from '../log.ts'
import { candidatePaths, listenPath } from './socket_path.ts'

/** A command of the control socket. It validates its arguments. */
type Verb = (args: unknown) => Promise<unknown>
export type Verbs = Record<string, Verb>

/** A verb that validates its arguments with `schema` first. */
export function verb<Schema extends v.GenericSchema>(
  schema: Schema,
  act: (args: v.InferOutput<Schema>) => unknown,
): Verb {
  return async (args) => act(parse(schema, args))
}

/** Whether a verb only reads. The last word of its name decides. */
export const isReadOnly = (name: string): boolean => READ_ONLY.test(name)
const READ_ONLY = /\.(list|show|status|raw|verify)$/

const ControlRequest = v.object({ verb: v.string(), args: v.unknown() })
const ControlResponse = v.union([
  v.object({ result: v.unknown() }),
  v.object({ refusal: v.object({ status: v.number(), code: v.string(), detail: v.string() }) }),
])

/**
 * Listens on the control socket of `databaseFile`. Only processes of the same user can connect. The caller must hold
 * the lock on the database.
 *
 * @throws Refusal 409 `untrusted_folder` if no folder is safe for the socket.
 */
export async function openControl(
  databaseFile: string,
  verbs: Verbs,
  log: Log,
): Promise<{ close(): Promise<void> }> {
  const path = listenPath(databaseFile)
  rmSync(path, { force: true })
  const server = createServer((req, res) => void respond(req, res, verbs, log))
  const previousUmask = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
    })
  } finally {
    process.umask(previousUmask)
  }
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function respond(req: IncomingMessage, res: ServerResponse, verbs: Verbs, log: Log): Promise<void> {
  const body = await runRequest(req, verbs, log)
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify(body))
}

async function runRequest(req: IncomingMessage, verbs: Verbs, log: Log) {
  try {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const call = v.parse(ControlRequest, JSON.parse(Buffer.concat(chunks).toString()))
    log[isReadOnly(call.verb) ? 'debug' : 'info']('command', { verb: call.verb })
    return { result: await runVerb(verbs, call.verb, call.args) }
  } catch (error) {
    if (error instanceof Refusal)
      return { refusal: { status: error.status, code: error.code, detail: error.message } }
    log.error('a command failed', { error })
    return { refusal: { status: 500, code: 'internal', detail: 'the command failed; see the server log' } }
  }
}

/** Runs the verb `name`. @throws Refusal 404 `unknown_command` if no verb has that name. */
export async function runVerb(verbs: Verbs, name: string, args: unknown): Promise<unknown> {
  const matchingVerb = Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (!matchingVerb)
    throw new Refusal(
      404,
      'unknown_command',
      `the server does not support ${name}; check that it runs the same version`,
    )
  return matchingVerb(args)
}

/**
 * Runs a verb on the server that has `databaseFile` open. Resolves with `null` if no server runs.
 *
 * @throws Refusal from the server; 503 `no_answer` if the server ended before it answered; 403 `untrusted_socket` if
 * another user may have created the socket; the reason of `signal`, which ends the wait for an answer.
 */
export async function callControl(
  databaseFile: string,
  name: string,
  args: unknown,
  signal: AbortSignal | null = null,
): Promise<{ result: unknown } | null> {
  for (const path of candidatePaths(databaseFile)) {
    const answered = await callSocket(path, { verb: name, args }, signal)
    if (answered !== null) return answered
  }
  return null
}

async function callSocket(
  path: string,
  call: { verb: string; args: unknown },
  signal: AbortSignal | null,
): Promise<{ result: unknown } | null> {
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({ connect: { socketPath: path }, headersTimeout: 0, bodyTimeout: 0 })
  try {
    const { body } = await request('http://windfall/', {
      method: 'POST',
      body: JSON.stringify(call),
      dispatcher,
      signal,
    })
    const answered = v.parse(ControlResponse, await body.json())
    if ('result' in answered) return answered
    const { status, code, detail } = answered.refusal
    throw new Refusal(status, code, detail)
  } catch (error) {
    if (isNotListening(error)) return null
    if (isConnectionLost(error)) {
      const detail = 'the server stopped before it answered; check whether the command took effect'
      throw new Refusal(503, 'no_answer', detail)
    }
    throw error
  } finally {
    await dispatcher.close()
  }
}

const isNotListening = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(String(error.code))

const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(String(error.code))
