/** Rules that are on while no channel takes their messages. */
import { expect, test } from 'vitest'
import { openChecked } from '../../doctor/checking.ts'
import { type AlertingApp, openAlertingApp } from '../alerting.ts'

const phoneOf = (app: AlertingApp) => {
  const [phone] = app.alerts.channels.list()
  if (phone === undefined) throw new Error('there is no channel')
  return phone
}

const titles = (app: AlertingApp) => app.alerts.findings().map(({ details }) => details?.title)

test.each([
  ['turned off', 'disabled'],
  ['dead', 'dead'],
] as const)('a last channel that is %s is a finding while rules are on', async (_, state) => {
  const app = await openAlertingApp()
  const sale = await app.rule('sale')
  await app.rule('refund', {}, { is_on: false })
  expect(app.alerts.findings()).toEqual([])
  const phone = phoneOf(app)
  await app.windfall.store.commit(() => app.alerts.channels.setState(phone, state, null))
  expect(app.alerts.findings().at(-1)).toMatchObject({
    state: 'warning',
    text: '1 rule is on, but every channel is turned off or does not work, so nobody gets their messages.',
  })
  await app.windfall.store.commit(() => app.alerts.rules.put({ ...sale, is_on: false }))
  expect(titles(app)).not.toContain('No channel is left for alerts')
  await app.windfall.store.commit(() => {
    app.alerts.rules.put(sale)
    app.alerts.channels.setState(phone, 'active', null)
  })
  expect(titles(app)).toEqual([])
})

test('a last channel that the owner removes is a finding, and doctor reports it', async () => {
  const app = await openAlertingApp({ env: { WINDFALL_BASE_URL: 'http://127.0.0.1:1' } })
  await app.rule('sale')
  await app.windfall.store.commit(() => app.alerts.channelAdministration.remove(phoneOf(app).id))
  expect(titles(app)).toEqual(['No channel is left for alerts'])
  const { check } = await openChecked(app)
  expect(await check('alerts')).toMatchObject([
    {
      status: 'warning',
      detail: expect.stringContaining('1 rule is on, but there is no channel'),
      remedy: 'Add a channel or make one work again, or turn the rules off.',
    },
  ])
})

test('rules that name only channels that were removed are a finding while others have theirs', async () => {
  const app = await openAlertingApp()
  const other = await app.channel('other')
  await app.rule('sale')
  await app.rule('refund', {}, { name: 'Refunds', channels: [other.id] })
  await app.rule('trial', {}, { name: 'Trials', channels: [other.id] })
  await app.rule('big_sale', {}, { channels: [other.id, phoneOf(app).id] })
  expect(app.alerts.findings()).toEqual([])
  await app.windfall.store.commit(() => app.alerts.channels.remove(other.id))
  expect(app.alerts.findings()).toMatchObject([
    {
      text: '“Refunds” and 1 other rule are on, but each channel that the rule names was removed, is turned off or does not work.',
      details: { title: 'A rule has no channel left' },
    },
  ])
})

test('a mute is a notice until it ends', async () => {
  const app = await openAlertingApp()
  const [organization] = app.windfall.organizations.list()
  const muted_until = app.clock() + 3_600_000
  await app.windfall.store.commit(() => app.alerts.settings.change(organization?.id ?? '', { muted_until }))
  expect(app.alerts.findings()).toMatchObject([
    {
      state: 'notice',
      text: 'Nothing is sent until 2026-06-01 13:00Z. One summary follows.',
      details: { title: 'Alerts are muted', action: { label: 'Unmute', href: '/settings/alerts' } },
    },
  ])
  app.clock.turn(3_600_000)
  expect(app.alerts.findings()).toEqual([])
})
