/** `/api/v1/annotations`: by the owner, by tokens, within their scopes. */
import { expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../helpers.ts'

const PATH = '/api/v1/annotations'
const OTHER = 'com.example.other'
const NOTE = { annotated_on: '2026-02-27', text: 'Launched the big campaign' }

type Headers = Record<string, string>

async function openApi() {
  const app = await openTestApp()
  await app.windfall.store.commit(() =>
    app.windfall.apps.add(app.organization.id, { bundle_id: OTHER }, 'test'),
  )
  const send = async (method: string, path: string, headers: Headers, body?: unknown) => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await app.request(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...init,
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  return { ...app, send, owner: await app.signIn() }
}

async function bearerOf(app: TestApp, can_annotate: boolean, apps: string[] | null = null): Promise<Headers> {
  const { store, tokens } = app.windfall
  const scope = { organization_id: null, apps }
  const { token } = await store.commit(() => tokens.create('test', scope, { can_annotate }))
  return { authorization: `Bearer ${token}` }
}

const idOf = (app: TestApp, bundle_id: string) =>
  app.windfall.apps.list().find((one) => one.bundle_id === bundle_id)?.id ?? ''

test('the owner adds, changes and deletes a note, and the log says so', async () => {
  const { send, owner, windfall } = await openApi()
  const made = await send('POST', PATH, owner, { ...NOTE, text: '  Launched the big campaign ', app: OTHER })
  expect(made).toMatchObject({ status: 201, body: { ...NOTE, source: 'owner' } })
  const path = `${PATH}/${made.body.id}`
  expect(await send('PATCH', path, owner, { text: 'Moved', app: null })).toMatchObject({
    status: 200,
    body: { text: 'Moved', app_id: null, annotated_on: NOTE.annotated_on },
  })
  expect((await send('GET', PATH, owner)).body.annotations).toMatchObject([{ text: 'Moved' }])
  expect((await send('DELETE', path, owner)).status).toBe(204)
  expect(await send('DELETE', path, owner)).toMatchObject({
    status: 404,
    body: { code: 'unknown_annotation' },
  })
  expect((await send('GET', PATH, owner)).body.annotations).toEqual([])
  expect(windfall.audit.list(Number.MAX_SAFE_INTEGER, 5).map(({ action }) => action)).toEqual(
    expect.arrayContaining(['annotation.made', 'annotation.changed', 'annotation.removed']),
  )
})

test('a token writes only with the right to', async () => {
  const app = await openApi()
  const reading = await bearerOf(app, false)
  const writing = await bearerOf(app, true)
  expect(await app.send('POST', PATH, reading, NOTE)).toMatchObject({
    status: 403,
    body: { code: 'read_only_token' },
  })
  expect(await app.send('POST', PATH, writing, NOTE)).toMatchObject({
    status: 201,
    body: { source: 'token', app_id: null },
  })
  expect((await app.send('GET', PATH, reading)).body.annotations).toHaveLength(1)
})

test('a token limited to apps sees and writes only their notes', async () => {
  const app = await openApi()
  const limited = await bearerOf(app, true, [idOf(app, OTHER)])
  const whole = (await app.send('POST', PATH, app.owner, NOTE)).body
  const foreign = (await app.send('POST', PATH, app.owner, { ...NOTE, app: 'com.example.lantern' })).body
  expect((await app.send('GET', PATH, limited)).body.annotations).toEqual([])
  for (const { id } of [whole, foreign]) {
    for (const method of ['PATCH', 'DELETE']) {
      const answer = await app.send(method, `${PATH}/${id}`, limited, method === 'PATCH' ? {} : undefined)
      expect(answer).toMatchObject({ status: 404, body: { code: 'unknown_annotation' } })
    }
  }
  expect(await app.send('POST', PATH, limited, NOTE)).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
  const own = await app.send('POST', PATH, limited, { ...NOTE, app: OTHER })
  expect(own.status).toBe(201)
  expect(await app.send('PATCH', `${PATH}/${own.body.id}`, limited, { app: null })).toMatchObject({
    status: 404,
  })
})

test('guests and visitors see nothing', async () => {
  const app = await openApi()
  const { links, store } = app.windfall
  const link = await store.commit(() =>
    links.create({
      organization_id: null,
      apps: null,
      label: 'guest',
      basis: 'gross',
      metrics: null,
      expires_at: null,
      passcode: null,
    }),
  )
  const guest = await app.signIn(link.id)
  expect((await app.send('GET', PATH, guest)).body.code).toBe('not_for_guests')
  expect((await app.send('POST', PATH, guest, NOTE)).body.code).toBe('not_for_guests')
  expect((await app.send('POST', PATH, {}, NOTE)).body.code).toBe('token_required')
  const foreign = { ...app.owner, 'sec-fetch-site': 'cross-site' }
  expect((await app.send('POST', PATH, foreign, NOTE)).body.code).toBe('cross_site')
})

test.each([
  [{ ...NOTE, annotated_on: '2026-02-30' }, 'annotated_on'],
  [{ ...NOTE, annotated_on: '1999-01-01' }, 'annotated_on'],
  [{ ...NOTE, text: ' ' }, 'text'],
  [{ ...NOTE, text: 'x'.repeat(201) }, 'text'],
  [{ text: 'x' }, 'annotated_on'],
  [{ ...NOTE, colour: 'red' }, 'colour'],
])('refuses %j', async (body, path) => {
  const { send, owner } = await openApi()
  const answer = await send('POST', PATH, owner, body)
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path }] } })
  expect((await send('GET', PATH, owner)).body.annotations).toEqual([])
})

test('lists days and pages, newest first, and as CSV', async () => {
  const { send, owner, request } = await openApi()
  for (const day of ['01', '03', '02', '02', '04'])
    await send('POST', PATH, owner, { annotated_on: `2026-02-${day}`, text: `Day ${day}` })
  const days = async (query: string) => {
    const { body } = await send('GET', `${PATH}?${query}`, owner)
    return { days: body.annotations.map((one: { text: string }) => one.text), next: body.next }
  }
  expect((await days('from=2026-02-02&to=2026-02-03')).days).toEqual(['Day 03', 'Day 02', 'Day 02'])
  const seen: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const page: { days: string[]; next: string | null } = await days(
      `limit=2${next === '' ? '' : `&before=${encodeURIComponent(next)}`}`,
    )
    seen.push(...page.days)
    next = page.next
  }
  expect(seen).toEqual(['Day 04', 'Day 03', 'Day 02', 'Day 02', 'Day 01'])
  const csv = await (await request(`${PATH}.csv`, { headers: owner })).text()
  expect(csv.trim().split('\n')).toHaveLength(6)
  expect(await send('GET', `${PATH}?app=com.example.unknown`, owner)).toMatchObject({ status: 404 })
})

test('a revoked token does not write, also if its body arrives late', async () => {
  const app = await openApi()
  const { store, tokens } = app.windfall
  const scope = { organization_id: null, apps: null }
  const { token, id } = await store.commit(() => tokens.create('test', scope, { can_annotate: true }))
  let sendBody = (): void => {}
  const body = new ReadableStream({
    start(controller) {
      sendBody = () => {
        controller.enqueue(new TextEncoder().encode(JSON.stringify(NOTE)))
        controller.close()
      }
    },
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = app.request(PATH, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  await store.commit(() => tokens.revoke(id))
  sendBody()
  expect((await answer).status).toBe(401)
  expect((await app.send('GET', PATH, app.owner)).body.annotations).toEqual([])
})
