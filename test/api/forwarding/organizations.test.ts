/** Organizations never mix: neither in filters nor in what is sent or read. */
import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { openWebhooks } from './requests.ts'

const OWN = 'com.example.own'
const FOREIGN = 'com.example.foreign'
const ENV = {
  WINDFALL_OUTBOUND_ALLOW: '127.0.0.1',
  WINDFALL_ORGANIZATIONS: '[{ slug = "acme" }, { slug = "other" }]',
  WINDFALL_APPS: `[{ bundle_id = "${OWN}", organization = "acme" }, { bundle_id = "${FOREIGN}", organization = "other" }]`,
}

async function openTwo() {
  const opened = await openWebhooks({ apps: [] })
  const { config } = loadConfig({ env: ENV, cwd: opened.app.folder })
  await opened.app.windfall.declare(config)
  const { windfall } = opened.app
  const [acme, other] = ['acme', 'other'].map((slug) => windfall.organizations.resolve(slug).id)
  const appOf = (bundle_id: string) =>
    windfall.apps.list().find((app) => app.bundle_id === bundle_id)?.id ?? ''
  const appendTo = (organization_id: string, app_id: string, cause: string) =>
    windfall.store.commit(
      () =>
        windfall.feed.append({
          organization_id,
          app_id,
          environment: 'production',
          type: 'gap.found',
          origin: 'live',
          customer_id: null,
          subject: null,
          cause,
          data: () => ({}),
          occurred_at: opened.app.clock(),
          signed_at: null,
        })?.id,
    )
  return {
    ...opened,
    acme: acme ?? '',
    other: other ?? '',
    own: appOf(OWN),
    foreign: appOf(FOREIGN),
    appendTo,
  }
}

test('an endpoint names only apps of its organization', async () => {
  const { call, create, acme, foreign, receiver } = await openTwo()
  const url = receiver.url
  expect(await call('POST', 'endpoints', { url })).toMatchObject({
    status: 400,
    body: { code: 'organization_needed' },
  })
  for (const app of [FOREIGN, foreign]) {
    const refused = await call('POST', 'endpoints', { url, organization_id: acme, apps: [app] })
    expect(refused).toMatchObject({ status: 404, body: { code: 'unknown_app' } })
  }
  const { id } = await create({ organization_id: acme })
  const changed = await call('PATCH', `endpoints/${id}`, { apps: [foreign] })
  expect(changed).toMatchObject({ status: 404, body: { code: 'unknown_app' } })
  const replayed = await call('POST', `endpoints/${id}/replay`, {
    from_seq: 1,
    apps: [foreign],
    preview: true,
  })
  expect(replayed).toMatchObject({ status: 404, body: { code: 'unknown_app' } })
})

test('an endpoint receives and replays events of its organization only, and a token reads its own deliveries', async () => {
  const { app, call, create, acme, other, own, foreign, appendTo, receiver } = await openTwo()
  const { id } = await create({ organization_id: acme })
  const mine = await appendTo(acme, own, 'one')
  await appendTo(other, foreign, 'two')
  await app.settled()
  expect(receiver.ids()).toEqual([mine])
  const preview = await call('POST', `endpoints/${id}/replay`, { from_seq: 1, preview: true })
  expect(preview.body).toMatchObject({ matching: 1 })

  const { windfall } = app
  const tokenOf = (organization_id: string) =>
    windfall.store.commit(() => windfall.tokens.create('test', { organization_id, apps: null }).token)
  const read = async (organization_id: string, path: string) =>
    call('GET', path, undefined, { authorization: `Bearer ${await tokenOf(organization_id)}` })
  expect((await read(acme, 'deliveries')).body.deliveries).toHaveLength(1)
  expect((await read(other, 'deliveries')).body.deliveries).toHaveLength(0)
  expect(await read(other, 'deliveries/1')).toMatchObject({ status: 404, body: { code: 'unknown_delivery' } })
  expect(await read(acme, 'endpoints')).toMatchObject({ status: 401 })
})
