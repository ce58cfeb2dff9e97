/** The command `windfall health`: whether the server is ready, for service managers, containers and scripts. */

import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import * as v from 'valibot'
import { preciseTime } from '../clock.ts'
import { listenUrl } from '../config/base_url.ts'
import { callControl } from '../control/socket.ts'
import { Refusal } from '../errors.ts'
import { commandName } from '../program/form.ts'
import { configArg, load } from './instance/instance.ts'
import { print, setResult } from './instance/output.ts'

const PAUSE_MS = 250
/** How long to wait for an answer. With `--wait`, the rest of that time, but at least the minimum. */
const TIMEOUT_MS = 4_000
const MIN_TIMEOUT_MS = 1_000

/** `reasons` says why the server is degraded or not ready. `checks` are those of `/readyz`; null without them. */
type Health = {
  url: string
  status: 'ready' | 'degraded' | 'not_ready'
  reasons: string[]
  checks: Record<string, boolean> | null
}

export const healthCommand = defineCommand({
  meta: { name: 'health', description: 'Say whether the server is ready' },
  args: {
    wait: { type: 'string', valueHint: 'SECONDS', description: 'Wait until it is ready, at most this long' },
    url: {
      type: 'string',
      valueHint: 'URL',
      description: 'The address of the server (default: where this configuration serves)',
    },
    ...configArg,
  },
  async run({ args }) {
    const { wait, url, config } = args
    const wait_ms = wait === undefined ? null : secondsOf(wait) * 1_000
    const given = url === undefined ? null : addressIn(url)
    const began = preciseTime()
    // A timeout must be a whole number.
    const remaining_ms = (): number => Math.ceil((wait_ms ?? 0) - (preciseTime() - began))
    for (;;) {
      const limit_ms =
        wait_ms === null ? TIMEOUT_MS : Math.min(TIMEOUT_MS, Math.max(MIN_TIMEOUT_MS, remaining_ms()))
      const health = await ask(given ?? (await addressOf(config, limit_ms)), limit_ms)
      if (health.status !== 'not_ready' || remaining_ms() <= PAUSE_MS) return report(health)
      await setTimeout(PAUSE_MS)
    }
  },
})

function secondsOf(wait: string): number {
  if (/^\d{1,6}$/.test(wait)) return Number(wait)
  throw new Refusal(400, 'invalid_request', `--wait must be a whole number of seconds, not ${wait}`)
}

function addressIn(url: string): string {
  const protocol = URL.parse(url)?.protocol
  if (protocol === 'http:' || protocol === 'https:') return url
  throw new Refusal(400, 'invalid_request', `--url must be a URL such as http://127.0.0.1:8787, not ${url}`)
}

/** The address of the running server, from its control socket; otherwise the configured one. @throws ConfigError */
async function addressOf(configPath: string | undefined, limit_ms: number): Promise<string> {
  const { config } = load(configPath)
  const signal = AbortSignal.timeout(limit_ms)
  // During a start there is no socket, and a server that hangs does not answer on it.
  const status = await callControl(config.store.path, 'instance.status', {}, signal).catch(() => null)
  const { address } = (status?.result ?? {}) as { address?: string }
  return address ?? listenUrl(config.server)
}

async function ask(url: string, limit_ms: number): Promise<Health> {
  try {
    return { url, ...judge(await get(new URL('/readyz', url), AbortSignal.timeout(limit_ms))) }
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'AbortError'
    const reason = isTimeout
      ? `it did not answer within ${Math.round(limit_ms / 1_000)} s`
      : `it cannot be reached (${error instanceof Error ? error.message : String(error)})`
    return { url, status: 'not_ready', reasons: [reason], checks: null }
  }
}

type Answer = { status: number; body: string }

/** A GET request by node:http, which permits every port and loads quickly. */
function get(url: URL, signal: AbortSignal): Promise<Answer> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    request(url, { signal, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    })
      .on('error', reject)
      .end()
  })
}

const Readiness = v.object({
  status: v.picklist(['ready', 'degraded', 'not_ready']),
  checks: v.record(v.string(), v.boolean()),
})
/** While it starts, the server refuses with a problem document. */
const Problem = v.object({ detail: v.string() })

function judge({ status: code, body }: Answer): Omit<Health, 'url'> {
  const json = jsonIn(body)
  if (v.is(Readiness, json)) {
    const { status, checks } = v.parse(Readiness, json)
    return { status, checks, reasons: reasonsIn(checks) }
  }
  const reason = v.is(Problem, json) ? json.detail : `it answered ${code}, and not as Windfall does`
  return { status: 'not_ready', checks: null, reasons: [reason.replace(/\.$/, '')] }
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

const REASONS: Readonly<Record<string, { fault: boolean; text: string }>> = {
  database_writable: {
    fault: false,
    text: `the database cannot be written (${commandName} doctor says why)`,
  },
  shutting_down: { fault: true, text: 'the server is shutting down' },
  root_certificate_valid: { fault: false, text: 'Apple’s root certificate has expired (update Windfall)' },
  alerts_running: { fault: false, text: `an error has stopped alerts (${commandName} doctor says which)` },
  forwarding_running: {
    fault: false,
    text: `an error has stopped webhooks (${commandName} doctor says which)`,
  },
}

const reasonsIn = (checks: Record<string, boolean>): string[] =>
  Object.entries(REASONS).flatMap(([name, { fault, text }]) => (checks[name] === fault ? [text] : []))

function report(health: Health): void {
  const { url, status, reasons } = health
  setResult(health)
  if (status === 'ready') return print(`${url} is ready.`)
  if (status === 'degraded') return print(`${url} is ready, but ${reasons.join('; ')}.`)
  process.exitCode = 1
  print(`${url} is not ready: ${reasons.join('; ') || 'it gave no reason'}.`)
}
