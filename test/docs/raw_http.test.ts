/** The requests of docs/sdk/http.md, replayed in order, and the code that makes the same requests. */
import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { sha256Of } from '../../src/ids.ts'
import { BUNDLE } from '../apple/samples.ts'
import { APP, authority, openAttested } from '../attribution/devices/enrolled.ts'

const PAGE = readFileSync(new URL('../../docs/sdk/http.md', import.meta.url), 'utf8')
const blocksOf = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text)

type Shown = { path: string; headers: Record<string, string>; body: string }

function requestIn(block: string): Shown {
  const [head = '', body = ''] = block.split('\n\n')
  const [line = '', ...fields] = head.split('\n')
  const [method, path = ''] = line.split(' ')
  expect(method).toBe('POST')
  const headers = Object.fromEntries(fields.map((field) => field.split(': ')))
  return { path, headers, body: body.trimEnd() }
}

const REQUESTS = blocksOf('http').map(requestIn)
const fieldsOf = ({ body }: Shown): string[] => Object.keys(JSON.parse(body))

/** What the placeholders of the page stand for. */
async function openPlaceholders() {
  const opened = await openAttested()
  const { app, challenge, signed } = opened
  const { keys, store } = app.windfall
  const key = async (kind: 'publishable' | 'secret') =>
    (await store.commit(() => keys.create(app.organization.id, kind, 'test'))).token
  const device = authority.device(APP)
  const text = await challenge()
  const values: Record<string, string> = {
    'com.example.app': BUNDLE,
    '<jwsRepresentation>': await signed('2000000123456789'),
    '<purchase token>': 'token.of.a-purchase',
    'pk_live_…': await key('publishable'),
    'sk_live_…': await key('secret'),
    '<key id>': device.key_id,
    '<attestation>': device.attest(sha256Of(Buffer.from(text, 'base64url'))).toString('base64'),
    '<challenge>': text,
  }
  const filled = (shown: string): string =>
    Object.entries(values).reduce((result, [name, value]) => result.replaceAll(name, value), shown)
  return { ...opened, device, values, filled }
}

test('every request of the page is answered 200, in order', async () => {
  const { app, device, values, filled } = await openPlaceholders()
  for (const { path, headers: shown, body: shownBody } of REQUESTS) {
    const body = filled(shownBody)
    const assertion = device.assert(`POST\n${path}\n${body}`).toString('base64')
    const headers = Object.fromEntries(
      Object.entries(shown).map(([name, value]) => [name, filled(value).replace('<assertion>', assertion)]),
    )
    const response = await app.request(path, { method: 'POST', headers, body })
    const answer = (await response.json()) as Record<string, string>
    expect([path, body, response.status, answer]).toMatchObject([path, body, 200, {}])
    if (answer.deviceToken) values['dt_…'] = answer.deviceToken
  }
  expect(values['dt_…']).toBeDefined()
  expect(REQUESTS.map(({ body }) => body).join()).not.toContain('…')
})

let swift: string
let kotlin: string
beforeAll(() => {
  swift = blocksOf('swift').join('\n')
  kotlin = blocksOf('kotlin').join('\n')
})

test('the Swift code sends the fields and headers of the requests', () => {
  const ios = REQUESTS.filter(({ body }) => !body.includes('android'))
  for (const { path } of ios) expect(swift).toContain(`"${path}"`)
  // The model name needs more code than the example has.
  const fields = new Set(ios.flatMap(fieldsOf).filter((field) => field !== 'deviceModel'))
  for (const field of fields) expect(swift, field).toContain(`"${field}":`)
  for (const name of ['Authorization', 'Content-Type', 'X-Windfall-Assertion'])
    expect(swift).toContain(`"${name}"`)
})

test('the Kotlin code sends the fields of the requests', () => {
  const android = REQUESTS.filter(({ body }) => body.includes('android'))
  expect(android.length).toBeGreaterThan(0)
  for (const field of android.flatMap(fieldsOf)) expect(kotlin, field).toContain(`.put("${field}"`)
  for (const { path } of android) expect(kotlin).toContain(`"${path}"`)
})
