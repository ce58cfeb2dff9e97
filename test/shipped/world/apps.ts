/** A process: SDK clients without a credential, with a publishable key, with a secret key, and with a device token. */
import { setTimeout as pass } from 'node:timers/promises'
import { openDeviceAuthority } from '../../../src/demo/signing/devices.ts'
import { APPS } from '../../../src/demo/world/catalogue.ts'
import type { Step } from '../../../src/demo/world/steps.ts'
import { sha256Of } from '../../../src/ids.ts'
import { callOf } from '../../faults/load.ts'
import { answer, givenArguments } from './answering.ts'
import { openPosting } from './posting.ts'

/** The time at which devices are made, in ms. */
const { at } = givenArguments<{ at: number }>()
const authority = openDeviceAuthority(at)
const [app] = APPS
if (app === undefined) throw new Error('the simulated company has no app')
const { bundle_id, team_id } = app
const PAUSE_MS = 1_200
const USERS = 40

let posting: ReturnType<typeof openPosting> | null = null
let isEnding = false
let number = 0
const clients: Promise<void>[] = []

async function json(url: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answered = (await response.json()) as Record<string, string>
  if (!response.ok) throw new Error(`${url}: ${response.status} ${JSON.stringify(answered)}`)
  return answered
}

/** Enrols a device and returns its token. */
async function enrol(url: string): Promise<string> {
  const device = authority.device({ team_id, bundle_id })
  const { challenge = '' } = await json(`${url}/api/sdk/v1/attest/challenge`, {})
  const attestation = device.attest(sha256Of(Buffer.from(challenge, 'base64url'))).toString('base64')
  const request = { keyId: device.key_id, attestation, challenge, bundleId: bundle_id }
  const { deviceToken = '' } = await json(`${url}/api/sdk/v1/attest`, request)
  return deviceToken
}

/** The two calls of a purchase, as a client makes them. Its link is proved if the client has a credential that proves. */
function stepsOf(client: string, count: number, isProof: boolean): Step[] {
  const appUserId = `${client}-${count % USERS}`
  const common = { at: 0, bundle_id }
  const body = { appUserId, bundleId: bundle_id, platform: 'ios' }
  const transaction = `9${String(count % USERS).padStart(6, '0')}${client.length}`
  return [
    { ...common, kind: 'identify', body: { ...body, attributes: { last: count, client } }, proof: null },
    {
      ...common,
      kind: 'attribute',
      body: { ...body, originalTransactionId: transaction },
      proof: isProof ? 'purchase' : null,
    },
  ]
}

/** Calls again and again with one credential. */
async function live(client: string, token: string | null, isProof: boolean): Promise<void> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  for (let count = 1; !isEnding; count += 1) {
    for (const step of stepsOf(client, count, isProof)) {
      number += 1
      await posting?.post(callOf(step, number), headers as Record<string, string>)
    }
    await pass(PAUSE_MS)
  }
}

type Begin = { url: string; publishable: string; secret: string }
export type AppQuestions = typeof questions
const questions = {
  root: () => authority.root_pem,
  async begin({ url, publishable, secret }: Begin): Promise<void> {
    posting = openPosting(url)
    const token = await enrol(url)
    // The device calls less often than its limit of 30 a minute permits only with this pause; others share the window.
    clients.push(live('anyone', null, false), live('keyed', publishable, false))
    clients.push(live('backend', secret, true), live('attested', token, true))
  },
  async end(): Promise<void> {
    isEnding = true
    await Promise.all(clients)
    await posting?.settled()
  },
  seen: () => posting?.seen(),
}
answer(questions)
