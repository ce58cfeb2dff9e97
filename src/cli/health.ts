/** The command `windfall health`: whether the server is ready, for service managers, containers and scripts. */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import { listenUrl } from '../config/base_url.ts'
import { callControl } from '../control/socket.ts'
import { Refusal } from '../errors.ts'
import { configArg, load } from './instance/instance.ts'
import { print, setResult } from './instance/output.ts'

const TIMEOUT_MS = 5_000
const PAUSE_MS = 250

/** The answer of `/readyz`; `url` is where it was asked. `checks` is null without an answer. */
type Health = { url: string; ready: boolean; checks: Record<string, boolean> | null; problem: string | null }

export const healthCommand = defineCommand({
  meta: { name: 'health', description: 'Say whether the server is ready' },
  args: {
    wait: { type: 'string', valueHint: 'SECONDS', description: 'Wait until it is ready, at most this long' },
    url: {
      type: 'string',
      valueHint: 'URL',
      description: 'The address of the server (default: as configured)',
    },
    ...configArg,
  },
  async run({ args }) {
    const until = performance.now() + secondsOf(args.wait) * 1000
    for (;;) {
      const health = await ask(args.url ?? (await addressOf(args.config)))
      if (health.ready || performance.now() >= until) return report(health)
      await setTimeout(PAUSE_MS)
    }
  },
})

function secondsOf(wait = '0'): number {
  if (/^\d{1,6}$/.test(wait)) return Number(wait)
  throw new Refusal(400, 'invalid_request', `--wait must be a number of seconds, not ${wait}`)
}

/** The address of the running server, from its control socket; otherwise the configured one. */
async function addressOf(configPath: string | undefined): Promise<string> {
  const { config } = load(configPath)
  const status = await callControl(config.store.path, 'instance.status', {}).catch(() => null)
  const { address } = (status?.result ?? {}) as { address?: string }
  return address ?? listenUrl(config.server)
}

async function ask(url: string): Promise<Health> {
  const none = { url, ready: false, checks: null }
  try {
    const { status, body } = await get(new URL('/readyz', url))
    const { checks = null } = JSON.parse(body) as { checks?: Record<string, boolean> }
    return { url, ready: status === 200, checks, problem: null }
  } catch (error) {
    return { ...none, problem: (error as Error).message }
  }
}

/** A GET request by node:http, which permits every port and loads quickly. */
function get(url: URL): Promise<{ status: number; body: string }> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const options = { signal: AbortSignal.timeout(TIMEOUT_MS), agent: false }
    request(url, options, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    })
      .on('error', reject)
      .end()
  })
}

const REASONS: Readonly<Record<string, { bad: boolean; text: string }>> = {
  database_writable: { bad: false, text: 'the database cannot be written' },
  shutting_down: { bad: true, text: 'the server is shutting down' },
  root_certificate_valid: { bad: false, text: 'Apple’s root certificate has expired' },
}

function report(health: Health): void {
  const { url, ready, checks, problem } = health
  setResult(health)
  if (ready) return print(`${url} is ready.`)
  process.exitCode = 1
  const reasons = Object.entries(checks ?? {}).flatMap(([name, value]) => {
    const reason = REASONS[name]
    return reason && value === reason.bad ? [reason.text] : []
  })
  print(`${url} is not ready: ${problem ?? (reasons.join(', ') || 'it gave no reason')}.`)
}
