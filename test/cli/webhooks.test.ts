/** The command `windfall webhooks` against a running Windfall, and its receiver. */
import { createHmac } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { openControl } from '../../src/control/socket.ts'
import { verbsOf } from '../../src/control/verbs.ts'
import { utcMinuteText } from '../../src/days.ts'
import { closedAtEnd } from '../closing.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from '../forwarding/receiving.ts'
import { type Ended, folderOf, run, start, startServing } from '../processes.ts'

const HOUR_MS = 3_600_000

let app: ForwardingApp
let receiver: Awaited<ReturnType<typeof openHttpReceiver>>
let webhooks: (...args: string[]) => Promise<Ended>

beforeEach(async () => {
  app = await openForwardingApp()
  app.windfall.http.beginServing(app.clock())
  receiver = await openHttpReceiver()
  webhooks = await commandsFor(app)
})

/** Returns a function that runs `windfall webhooks` against an open app. */
async function commandsFor({ config, windfall }: ForwardingApp) {
  const { path } = config.store
  closedAtEnd(await openControl(path, verbsOf(windfall), windfall.log))
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  return (...args: string[]) => run(['webhooks', ...args], { cwd })
}

const add = (...args: string[]) => webhooks('add', receiver.url, '--name', 'backend', ...args)

test('add prints the secret once and says whether the URL answers', async () => {
  const added = await add(
    '--types',
    'gap.found,gap.filled',
    '--header',
    'X-Key: one two',
    '--header=x-b: 2',
    '--max-per-second',
    '5',
  )
  expect(added.status).toBe(0)
  const [, secret = ''] = /^whe_\w+ {2}backend {2}(whsec_\S+)\n$/.exec(added.stdout) ?? []
  expect(added.stderr).toMatch(/The URL answers: 200 {2}\d+ ms {2}The receiver answered 200\./)
  expect(app.windfall.forwarding.endpoints.list()).toMatchObject([{ max_per_second: 5 }])
  const { headers = {}, body = '' } = receiver.requests[0] ?? {}
  expect(headers).toMatchObject({ 'x-key': 'one two', 'x-b': '2' })
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  expect(JSON.parse(body)).toMatchObject({ type: 'gap.found', seq: null, data: { test: true } })
  expect((await webhooks('list')).stdout).not.toContain(secret)
  const again = await add('--no-test')
  expect(again).toMatchObject({ status: 1, stderr: 'another endpoint has the name backend\n' })
})

test('add keeps an endpoint whose URL does not answer, and says so', async () => {
  receiver.behave(() => 401)
  const added = await add()
  expect(added.status).toBe(0)
  expect(added.stderr).toContain('does not accept events yet: 401')
  expect(added.stderr).toContain('npm run -s windfall -- webhooks test whe_')
  expect((await webhooks('list')).stdout).toMatch(/backend +active/)
})

test('add refuses an address with the line that permits it', async () => {
  const refused = await webhooks('add', 'http://10.0.0.8/hooks')
  expect(refused.status).toBe(1)
  expect(refused.stderr).toContain('allow = ["127.0.0.1", "10.0.0.8/32:80"] in [outbound] of config.toml')
  for (const pace of ['0', '1001', 'many'])
    expect((await webhooks('add', receiver.url, '--max-per-second', pace)).stderr).toContain('from 1 to 1000')
  expect((await webhooks('add', receiver.url, '--header', 'nonsense')).stderr).toContain("'Name: value'")
  expect((await webhooks('add', receiver.url, '--header', 'Host: a')).stderr).toContain('headers.Host')
})

test('test shows status, time and answer, and fails if the receiver does', async () => {
  await add('--no-test')
  receiver.behave((_, response) => void response.writeHead(500).end('broken\u001b[31m'))
  const tested = await webhooks('test', 'backend', '--type', 'subscription.expired')
  expect(tested.status).toBe(1)
  expect(tested.stdout).toMatch(/^failed {2}500 {2}\d+ ms {2}The receiver answered 500\. .*\nbroken \[31m\n$/)
  const unknown = await webhooks('test', 'backend', '--type', 'subscription.upgradet')
  const words = 'type: is not an event type. Did you mean "subscription.upgraded"?\n'
  expect(unknown).toMatchObject({ status: 2, stdout: '', stderr: words })
  const nobody = await webhooks('test', 'other')
  expect(nobody.stderr).toBe('there is no endpoint other; npm run -s windfall -- webhooks list shows them\n')
})

test('pause, resume, rotate and remove say what they did', async () => {
  await add('--no-test')
  expect((await webhooks('pause', 'backend')).stdout).toContain('backend is paused.')
  await app.append(2)
  const undecided = await webhooks('resume', 'backend')
  expect(undecided.status).toBe(2)
  expect(undecided.stderr).toMatch(
    /^2 events wait, the oldest since .* Choose --send-waiting or --from-now\n$/,
  )
  expect((await webhooks('list')).stdout).toMatch(/backend +paused \(owner\) .* 2 +0 +-/)
  expect((await webhooks('resume', 'backend', '--send-waiting')).stdout).toContain('2 events wait')
  await app.settled()
  expect(receiver.requests).toHaveLength(2)
  await webhooks('pause', 'backend')
  expect((await webhooks('resume', 'backend')).stdout).toBe('backend is active. Nothing waited.\n')
  const rotated = await webhooks('rotate', 'backend', '--overlap', '2')
  expect(rotated.stdout).toMatch(/backend {2}whsec_/)
  expect(rotated.stderr).toContain('signs for 2 hours more')
  expect((await webhooks('rotate', 'backend', '--overlap', '721')).status).toBe(2)
  expect((await webhooks('remove', 'backend')).stdout).toContain('0 waiting deliveries dropped')
  const actions = app.windfall.audit.list(null, 10).map(({ actor, action }) => `${actor} ${action}`)
  expect(actions.toReversed()).toEqual(
    ['made', 'paused', 'resumed', 'paused', 'resumed', 'rotated', 'deleted'].map(
      (done) => `command line endpoint.${done}`,
    ),
  )
})

test('list and log say until when a receiver asked to wait', async () => {
  await add('--no-test')
  receiver.behave((_, response) => void response.writeHead(429, { 'retry-after': '600' }).end())
  await app.append(2)
  await app.settled()
  const until = utcMinuteText(app.clock() + 600_000)
  expect((await webhooks('list')).stdout).toContain(`active (asked to wait until ${until})`)
  const log = await webhooks('log')
  expect(log.stderr).toMatch(new RegExp(`^The receiver of backend asked to wait until ${until}\\.\\n$`))
})

test('list says what the last answer of a failing endpoint was, and when it is tried next', async () => {
  await add('--no-test')
  receiver.behave(() => 503)
  await app.append(5)
  await app.settled()
  const listed = await webhooks('list')
  expect(listed.stdout).toMatch(/backend +failing \(no success\)/)
  expect(listed.stderr).toMatch(
    /^backend: The receiver answered 503\. .* The next attempt is at .*Z\. Repair the receiver, then run npm run -s windfall -- webhooks retry backend\.\n$/,
  )
  const replayed = await webhooks('replay', 'backend', '--from-seq', '1', '--yes')
  expect(replayed.stdout).toMatch(
    /The replay waits: the endpoint is failing; npm run -s windfall -- webhooks retry whe_\w+ tries it now\.\n$/,
  )
})

test('retry sends what waits for a later attempt, and dismiss ends the report of what was given up', async () => {
  await add('--no-test')
  expect((await webhooks('retry', 'backend')).stdout).toBe('Nothing waits for backend.\n')
  receiver.behave(() => 400)
  await app.append(2)
  await app.run(8 * HOUR_MS)
  const sent = receiver.requests.length
  const one = await webhooks('retry', '--delivery', '1')
  expect(one).toMatchObject({ status: 0, stdout: 'Delivery 1 to backend is tried now.\n' })
  await app.settled()
  expect(receiver.requests).toHaveLength(sent + 1)
  expect((await webhooks('retry', 'backend')).stdout).toMatch(
    /^2 events wait, the oldest since .* They are sent now\.\n$/,
  )
  await app.settled()
  expect(receiver.requests).toHaveLength(sent + 3)
  for (const args of [[], ['backend', '--delivery', '1'], ['--delivery', 'x']])
    expect((await webhooks('retry', ...args)).status).toBe(2)
  expect((await webhooks('retry', '--delivery', '99')).stderr).toBe(
    'there is no delivery 99; npm run -s windfall -- webhooks log lists them\n',
  )
  await app.run(95 * HOUR_MS)
  expect((await webhooks('list')).stdout).toMatch(/waiting +given up[\s\S]*backend .* 0 +2 +-/)
  const again = await webhooks('retry', '--delivery', '1')
  expect(again.stdout).toMatch(/^Replay rep_\w+ sends the event of delivery 1 to backend again now\.\n$/)
  await app.settled()
  expect((await webhooks('dismiss', 'backend')).stdout).toMatch(/^backend: 1 delivery dismissed\./)
  expect((await webhooks('dismiss', 'backend')).stdout).toBe(
    'Nothing to dismiss: no delivery to backend was given up.\n',
  )
  await webhooks('pause', 'backend')
  const paused = await webhooks('retry', 'backend')
  expect(paused.stderr).toContain(
    'resume it to send what waits: npm run -s windfall -- webhooks resume backend',
  )
})

test('replay counts, asks, sends again and follows until the end', async () => {
  await add('--no-test')
  const events = await app.append(3)
  await app.settled()
  const nothing = await webhooks('replay', 'backend')
  expect(nothing).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^choose what to replay: --since/),
  })
  const refused = await webhooks('replay', 'backend', '--from-seq', '1', '--types', 'gap.filled', '--yes')
  expect(refused.stdout).toBe('No event matches.\n')
  const replayed = await webhooks('replay', 'backend', '--from-seq', '1', '--yes')
  expect(replayed.stdout).toMatch(/^3 events, from .* to .*\.\n3 events delivered\.\n$/)
  expect(receiver.ids().slice(3)).toEqual(events)
  await webhooks('pause', 'backend')
  const waiting = await webhooks('replay', 'backend', '--from-seq', '1', '--yes')
  expect(waiting.stdout).toContain('The replay waits: the endpoint is paused.')
  const [, id = ''] = /--stop (rep_\w+)/.exec(waiting.stderr) ?? []
  expect((await webhooks('replay', '--stop', id)).stdout).toContain(`Replay ${id} is stopped.`)
})

test('replay ends when each event was tried once, and says when a refused one is tried again', async () => {
  await add('--no-test')
  const [bad] = await app.append(5)
  await app.settled()
  receiver.behave(({ id }) => (id === bad ? 400 : 200))
  const replayed = await webhooks('replay', 'backend', '--from-seq', '1', '--yes')
  expect(replayed.status).toBe(0)
  expect(replayed.stderr).not.toContain('0 of 0')
  expect(replayed.stdout).toMatch(
    /\n4 events delivered, 1 refused and tried again (?:at 20|in |now)[^\n]*\.\nTo follow them: npm run -s windfall -- webhooks log\n$/,
  )
  const json = await webhooks('replay', 'backend', '--from-seq', '1', '--yes', '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({ delivered: 4, refused: 1, waiting: 1, waits_for: null })
})

test('replay to an ordered endpoint does not wait for what is behind a refused event of its key', async () => {
  await add('--no-test', '--ordered')
  const [bad] = await app.append(2, { subject: 'one' })
  await app.settled()
  receiver.behave(({ id }) => (id === bad ? 400 : 200))
  const replayed = await webhooks('replay', 'backend', '--from-seq', '1', '--yes')
  expect(replayed.stdout).toMatch(
    /\n0 events delivered, 1 refused and tried again (?:at 20|in |now)[^\n]*, 1 behind an earlier event of the same subject\.\n/,
  )
})

test('replay sends nothing without a yes', async () => {
  await add('--no-test')
  await app.append(1)
  await app.settled()
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${app.config.store.path}"\n` })
  const asked = start(['webhooks', 'replay', 'backend', '--since', '2020-01-01'], { cwd })
  asked.say('n\n')
  expect(await asked.ended).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/Nothing was sent\.\n$/),
  })
  expect(receiver.requests).toHaveLength(1)
})

test('remove asks before it drops what waits', async () => {
  await add('--no-test')
  receiver.behave(() => 400)
  await app.append(2)
  await app.settled()
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${app.config.store.path}"\n` })
  const asked = start(['webhooks', 'remove', 'backend'], { cwd })
  asked.say('n\n')
  const { status, stdout, stderr } = await asked.ended
  expect([status, stderr]).toEqual([1, expect.stringMatching(/Nothing was deleted\.\n$/)])
  expect(stdout).toMatch(/^2 events wait, the oldest since .*\. They are dropped if you delete backend\.\n$/)
  expect(app.windfall.forwarding.endpoints.list()).toHaveLength(1)
  expect((await webhooks('remove', 'backend', '--json')).status).toBe(2)
  const removed = await webhooks('remove', 'backend', '--yes')
  expect(removed.stdout).toBe('backend is deleted. 2 waiting deliveries dropped.\n')
})

test('remove deletes the endpoint that it asked about, or none', async () => {
  await add('--no-test')
  receiver.behave(() => 400)
  await app.append(1)
  await app.settled()
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${app.config.store.path}"\n` })
  const asked = start(['webhooks', 'remove', 'backend'], { cwd })
  await asked.until((stdout) => stdout.includes('They are dropped') || null)
  await webhooks('remove', 'backend', '--yes')
  await add('--no-test')
  asked.say('y\n')
  expect(await asked.ended).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('there is no endpoint'),
  })
  expect(app.windfall.forwarding.endpoints.list()).toMatchObject([{ name: 'backend' }])
})

test('log says when the next attempt is, and which failed delivery was replayed or dismissed', async () => {
  await add('--no-test')
  receiver.behave(() => 400)
  await app.append(1)
  await app.settled()
  const next = utcMinuteText(app.windfall.forwarding.log.delivery(1)?.next_at ?? 0)
  expect((await webhooks('log')).stdout).toContain(`waiting until ${next}`)
  await app.run(100 * HOUR_MS)
  const failed = async () => (await webhooks('log', '--state', 'failed')).stdout
  expect(await failed()).toMatch(/ failed {2}/)
  receiver.behave(() => 200)
  expect((await webhooks('replay', 'backend', '--failed', '--yes')).stdout).toContain('1 event delivered')
  expect(await failed()).toContain('failed (replayed)')
  receiver.behave(() => 400)
  await app.append(1)
  await app.run(100 * HOUR_MS)
  await webhooks('dismiss', 'backend')
  expect(await failed()).toMatch(/failed \(replayed\)[^\n]*\n.*failed \(dismissed\)/)
})

test('log lists deliveries and shows one with its attempts', async () => {
  await add('--no-test', '--header', 'x-key: hidden')
  receiver.behave(({ index }) => (index === 0 ? 400 : 200))
  const [first] = await app.append(2)
  await app.settled()
  const listed = await webhooks('log', 'backend')
  expect(listed.stdout.split('\n').filter((line) => line.includes('gap.found'))).toHaveLength(2)
  expect((await webhooks('log', '--state', 'delivered')).stdout).not.toContain(String(first))
  expect((await webhooks('log', '--type', 'gap.filled')).stdout).toBe('No deliveries.\n')
  const shown = await webhooks('log', '--id', '1')
  expect(shown.stdout).toContain(`webhook-id: ${first}`)
  expect(shown.stdout).toContain('x-key: •••')
  expect(shown.stdout).toContain('The receiver answered 400.')
  expect((await webhooks('log', '--id', '99')).stderr).toContain('there is no delivery 99')
})

test('log --follow prints each change', async () => {
  await add('--no-test')
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${app.config.store.path}"\n` })
  const following = start(['webhooks', 'log', '--follow'], { cwd })
  await following.until((text) => text.includes('No deliveries.') || null)
  const [id] = await app.append(1)
  await app.settled()
  await following.until((text) => new RegExp(`${id} {2}delivered`).exec(text))
  following.kill('SIGINT')
  expect((await following.ended).status).toBe(0)
})

test('listen verifies what Windfall sends, and answers the given status', async () => {
  const cwd = folderOf()
  const serving = await startServing({ cwd, env: { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' } })
  const env = { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' }
  const listener = start(['webhooks', 'listen'], { cwd })
  const url = await listener.until((text) => /Listening on (\S+)/.exec(text)?.[1])
  const added = await run(['webhooks', 'add', url, '--name', 'here'], { cwd, env })
  await listener.until((text) =>
    /subscription\.renewed {2}evt_test_\w+ {2}attempt 1 {2}not verified: no secret/.exec(text),
  )
  const [secret = ''] = /whsec_\S+/.exec(added.stdout) ?? []
  listener.kill('SIGTERM')
  expect((await listener.ended).stderr).toContain(
    `section [outbound] of config.toml has: allow = ["127.0.0.1/32:${new URL(url).port}"]`,
  )

  const allowed = { WINDFALL_OUTBOUND_ALLOW: '10.0.0.0/8' }
  const another = start(['webhooks', 'listen'], { cwd, env: allowed })
  await fetch(await another.until((text) => /Listening on (\S+)/.exec(text)?.[1]))
  another.kill('SIGTERM')
  expect((await another.ended).stderr).toMatch(/allow = \["10\.0\.0\.0\/8", "127\.0\.0\.1\/32:\d+"\]/)

  const port = new URL(url).port
  const verifying = start(['webhooks', 'listen', '--port', port, '--status', '503'], {
    cwd,
    env: { WINDFALL_WEBHOOK_SECRET: secret },
  })
  await verifying.until((text) => text.includes('Listening') || null)
  const taken = await run(['webhooks', 'listen', '--port', port], { cwd })
  expect(taken).toMatchObject({ status: 1, stderr: expect.stringContaining(`port ${port} is in use`) })
  const tested = await run(['webhooks', 'test', 'here'], { cwd, env })
  expect(tested.stdout).toContain('failed  503')
  await verifying.until((text) => text.includes('attempt 1  verified') || null)
  verifying.kill('SIGTERM')

  const other = start(['webhooks', 'listen', '--port', port, '--secret', `whsec_${'A'.repeat(44)}`], { cwd })
  await other.until((text) => text.includes('Listening') || null)
  await run(['webhooks', 'test', 'here'], { cwd, env })
  await other.until((text) => text.includes('not verified: no signature matches') || null)
  const old = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' }
  await fetch(url, { method: 'POST', headers: old, body: '{"type":"gap.found"}' })
  await other.until(
    (text) => text.includes('gap.found  evt_1  attempt ?  not verified: the timestamp differs') || null,
  )
  other.kill('SIGTERM')
  serving.kill('SIGTERM')
  expect((await run(['webhooks', 'listen', '--secret', 'abc'], { cwd })).stderr).toContain('whsec_')
})

test('without a server, webhooks are added and tested, and a replay waits for one', async () => {
  const cwd = folderOf()
  const env = { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' }
  const alone = (...args: string[]) => run(['webhooks', ...args], { cwd, env })
  expect((await alone('list')).stderr).toContain('there is no database')
  await run(['apps', 'add', 'com.example.app'], { cwd, env })
  const added = await alone('add', receiver.url, '--name', 'backend')
  expect(added.stderr).toContain('The URL answers: 200')
  expect(receiver.requests).toHaveLength(1)
  const followed = await alone('log', '--follow')
  expect(followed).toMatchObject({ status: 0, stderr: 'No server runs, so nothing changes.\n' })
  expect(followed.stdout).toContain('subscription.renewed')
  const replayed = await alone('replay', 'backend', '--delivery', '1', '--yes')
  expect(replayed.stderr).toContain('a test event cannot be replayed')
})

test('without a server, list and retry say that nothing is sent before one is started', async () => {
  const stopped = await openForwardingApp()
  const alone = await commandsFor(stopped)
  receiver.behave(() => 503)
  await stopped.addEndpoint(receiver.url, { name: 'backend' })
  await stopped.append(4)
  await stopped.settled()
  const waiting = await alone('retry', 'backend')
  expect(waiting.stdout).toMatch(
    /^4 events wait, .*\. They are sent when a server is started \(none runs\)\.\n$/,
  )
  expect(waiting.stderr).toBe('')
  await stopped.append(1)
  await stopped.settled()
  expect((await alone('list')).stderr).toMatch(/\nNo server runs: nothing is sent until one is started\.\n$/)
  const failing = await alone('retry', 'backend')
  const when = 'when a server is started (none runs)'
  const stdout = `backend is failing. One event is tried ${when}. The others follow its success.\n`
  expect(failing).toMatchObject({ status: 0, stdout, stderr: '' })
  const one = await alone('retry', '--delivery', '1')
  expect(one).toMatchObject({ stdout: `Delivery 1 to backend is tried ${when}.\n`, stderr: '' })
})

test('a replay without a selection names the options, and a refused header is not repeated', async () => {
  await add('--no-test')
  const unselected = await webhooks('replay', 'backend', '--types', 'gap.found')
  expect(unselected).toMatchObject({ status: 2, stdout: '' })
  expect(unselected.stderr).toContain('choose what to replay: --since, --until, --from-seq')
  const refused = await webhooks('add', receiver.url, '--header', 'Bearer-1234')
  expect(refused).toMatchObject({ status: 2, stderr: "--header must be 'Name: value'\n" })
})
