import { execSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signaturesOf as sign } from '../../src/forwarding/sending/signature.ts'
import { NOW } from '../apple/samples.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock } from '../helpers.ts'
import { isLong } from '../random.ts'
import { openForwardingApp, openHttpReceiver, type Received } from './receiving.ts'

const HOUR_MS = 3_600_000

/** A Windfall whose clock is that of this machine, because the library compares the timestamp with it. */
async function openNow() {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp({ clock: handClock(Date.now()) })
  const { endpoint, secret } = await app.addEndpoint(receiver.url)
  const send = async (): Promise<Received> => {
    await app.append(1)
    await app.settled()
    const last = receiver.requests.at(-1)
    if (last === undefined) throw new Error('nothing arrived')
    return last
  }
  const rotate = async (overlap_ms: number): Promise<string> => {
    const { store, forwarding } = app.windfall
    return (await store.commit(() => forwarding.endpoints.rotate(endpoint.id, overlap_ms))).secret
  }
  return { app, receiver, id: endpoint.id, secret, send, rotate }
}

const verify = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>)
const isVerified = (secret: string, request: Received): boolean => {
  try {
    return verify(secret, request) !== undefined
  } catch {
    return false
  }
}
const signaturesOf = ({ headers }: Received): string[] => String(headers['webhook-signature']).split(' ')

test('the library that receivers use verifies each request', async () => {
  const { secret, send, receiver, app } = await openNow()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const request = await send()
  expect(verify(secret, request)).toEqual(JSON.parse(request.body))
  expect(signaturesOf(request)).toHaveLength(1)
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': app.feed().at(-1)?.id,
    'webhook-timestamp': String(Math.floor(app.clock() / 1_000)),
    'windfall-attempt': '1',
  })
  expect(request.headers).not.toHaveProperty('windfall-replay')
  for (const changed of [
    { ...request, body: request.body.replace('{', '{ ') },
    { ...request, headers: { ...request.headers, 'webhook-id': 'evt_other' } },
    {
      ...request,
      headers: { ...request.headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 9) },
    },
  ])
    expect(isVerified(secret, changed)).toBe(false)
  expect(receiver.requests).toHaveLength(1)
})

test('each attempt is signed with its own time and the same bytes', async () => {
  const { secret, send, receiver, app } = await openNow()
  receiver.behave(() => 500)
  const first = await send()
  receiver.behave(() => 200)
  await app.run(4_000)
  const second = receiver.requests[1]
  if (second === undefined) throw new Error('there was no second attempt')
  expect(second.body).toBe(first.body)
  expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
  const timestampOf = ({ headers }: Received) => Number(headers['webhook-timestamp'])
  expect(timestampOf(second) - timestampOf(first)).toBe(4)
  expect(second.headers['windfall-attempt']).toBe('2')
  expect([first, second].map((request) => isVerified(secret, request))).toEqual([true, true])
})

test('while a secret rotates both verify, and afterwards only the new one', async () => {
  const { app, secret, send, rotate } = await openNow()
  const next = await rotate(HOUR_MS)
  app.clock.turn(200_000)
  const during = await send()
  expect(signaturesOf(during)).toHaveLength(2)
  expect([secret, next].map((one) => isVerified(one, during))).toEqual([true, true])
  app.clock.set(Date.now())
  const newest = await rotate(0)
  const after = await send()
  expect([secret, next, newest].map((one) => isVerified(one, after))).toEqual([false, false, true])
})

test('the earlier secret signs until the overlap ends, not longer', async () => {
  const { app, send, rotate } = await openNow()
  await rotate(24 * HOUR_MS)
  app.clock.turn(24 * HOUR_MS - 1)
  expect(signaturesOf(await send())).toHaveLength(2)
  app.clock.turn(1)
  expect(signaturesOf(await send())).toHaveLength(1)
})

test('a second rotation keeps the end of the first overlap', async () => {
  const { app, secret, send, rotate } = await openNow()
  await rotate(HOUR_MS)
  await rotate(24 * HOUR_MS)
  expect(signaturesOf(await send())).toHaveLength(3)
  app.clock.turn(HOUR_MS)
  const later = await send()
  expect(signaturesOf(later)).toHaveLength(2)
  expect(isVerified(secret, later)).toBe(false)
})

test('test events, replays and Apple’s notifications are signed alike', async () => {
  const { app, id, secret, send, receiver } = await openNow()
  await send()
  await app.windfall.forwarding.test.send(app.endpoint(id), 'subscription.renewed')
  const replay = await app.replay(id)
  await app.settled()
  const [, tested, replayed] = receiver.requests
  if (tested === undefined || replayed === undefined) throw new Error('something did not arrive')
  expect(verify(secret, tested)).toMatchObject({ seq: null, data: { test: true } })
  expect(verify(secret, replayed)).toMatchObject({ type: 'gap.found' })
  expect(replayed.headers['windfall-replay']).toBe(replay.id)
  const apple = await app.addEndpoint(receiver.url, { kind: 'apple' })
  await app.notify({
    notificationType: 'TEST',
    notificationUUID: '11111111-2222-4333-8444-555555555555',
    version: '2.0',
    signedDate: NOW,
    data: { bundleId: 'com.example.lantern', environment: 'Sandbox' },
  })
  await app.settled()
  const last = receiver.requests.at(-1)
  if (last === undefined) throw new Error('nothing arrived')
  const renamed = Object.entries(last.headers).map(([name, value]) => [
    name.replace('windfall-', 'webhook-'),
    value,
  ])
  expect(verify(apple.secret, { ...last, headers: Object.fromEntries(renamed) })).toHaveProperty(
    'signedPayload',
  )
})

/** A request that the packages of Standard Webhooks for Python (1.1.0) and Go (0.0.1) sign with `signature`. */
const PINNED = {
  secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  id: 'evt_6836906b65d74e2725afd49c',
  timestamp: 1_767_866_458,
  body: '{"type":"subscription.renewed","timestamp":"2026-01-08T09:59:58.000Z","seq":22,"data":{"name":"Zoë — 日本"}}',
  signature: 'v1,t7j8W95bQ7Tuhu0qu75ruXh2zpzretAFEt1SaKpHYps=',
}

test('a signature is the one that the packages for Python and Go make', () => {
  const { secret, id, timestamp, body, signature } = PINNED
  expect(sign([secret], { id, timestamp, body: Buffer.from(body) })).toBe(signature)
})

/** Signs the pinned request with a package, which is installed into a temporary folder. */
const PYTHON = `
import sys, json
from datetime import datetime, timezone
from standardwebhooks import Webhook
r = json.load(sys.stdin)
print(Webhook(r['secret']).sign(r['id'], datetime.fromtimestamp(r['timestamp'], tz=timezone.utc), r['body']))`
const GO = `package main
import ("encoding/json"; "fmt"; "os"; "time"; sw "github.com/standard-webhooks/standard-webhooks/libraries/go")
func main() {
  var r struct{ Secret, Id, Body string; Timestamp int64 }
  json.NewDecoder(os.Stdin).Decode(&r)
  w, err := sw.NewWebhook(r.Secret)
  if err != nil { panic(err) }
  s, err := w.Sign(r.Id, time.Unix(r.Timestamp, 0), []byte(r.Body))
  if err != nil { panic(err) }
  fmt.Println(s)
}`

const runIn = (cwd: string, command: string, input = '', env = {}) =>
  execSync(command, { cwd, input, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] })
    .toString()
    .trim()

test.runIf(isLong)('the packages for Python and Go sign as pinned', { timeout: 300_000 }, () => {
  const { path } = temporaryFolder()
  writeFileSync(`${path}/sign.py`, PYTHON)
  writeFileSync(`${path}/main.go`, GO)
  writeFileSync(`${path}/go.mod`, 'module sign\n\ngo 1.21\n')
  runIn(path, 'python3 -m pip install --quiet --target packages standardwebhooks==1.1.0')
  runIn(path, 'go get github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1')
  const request = JSON.stringify(PINNED)
  expect(runIn(path, 'python3 sign.py', request, { PYTHONPATH: 'packages' })).toBe(PINNED.signature)
  expect(runIn(path, 'go run .', request)).toBe(PINNED.signature)
})
