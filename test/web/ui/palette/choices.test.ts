import { expect, test } from 'vitest'
import { DEFINITIONS, METRIC_NAMES } from '../../../../src/metrics/definitions/definitions.ts'
import { NAVIGATION_VIEWS } from '../../../../src/web/ui/addresses.ts'
import { metricChoices } from '../../../../src/web/ui/palette/metric_choices.ts'
import { pageChoices } from '../../../../src/web/ui/palette/pages.ts'
import { type ScopeContext, scopeChoices } from '../../../../src/web/ui/palette/scope_choices.ts'
import { hrefInScope, type Scope, scopeFrom } from '../../../../src/web/ui/scope.ts'
import { VIEWS } from '../../../../src/web/views.ts'
import { nonEmpty } from '../../../non_empty.ts'

const href = (path: string, own = {}): string => hrefInScope(path, { env: 'sandbox' }, own)
const guestViews = NAVIGATION_VIEWS.filter((view) => view.isForGuests)

test('the owner finds every page that has an address of its own', () => {
  const found = pageChoices(NAVIGATION_VIEWS, { state: 'owner' }, (path) => path)
  const paths = found.map((choice) => ('href' in choice ? choice.href : ''))
  const plain = VIEWS.filter(({ path, view }) => !path.includes(':') && view !== 'sign_in')
  for (const { path } of nonEmpty(plain)) expect(paths).toContain(path)
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
})

test('a guest finds only the views of guests, under their titles', () => {
  const found = pageChoices(guestViews, { state: 'guest' }, href)
  expect(found.map(({ title }) => title)).toEqual([
    'Overview',
    'Revenue',
    'Subscriptions',
    'Trials & retention',
    'All metrics',
  ])
  expect(found[1]).toMatchObject({ href: '/revenue?env=sandbox' })
})

test('each view has a key of its own that is not G', () => {
  const keys = NAVIGATION_VIEWS.map(({ navigation }) => navigation.key)
  expect(new Set([...keys, 'g']).size).toBe(keys.length + 1)
})

test('metrics and cohorts lead to their charts, without those that a guest may not see', () => {
  const definitions = {
    metrics: JSON.parse(JSON.stringify(METRIC_NAMES.map((name) => DEFINITIONS[name]))),
    cohorts: [{ name: 'ltv', title: 'Lifetime value' }],
  } as unknown as Parameters<typeof metricChoices>[0]
  const owners = metricChoices(definitions, { state: 'owner', basis: null, metrics: null }, href)
  expect(owners.map(({ id }) => id).sort()).toEqual(
    [...METRIC_NAMES, 'ltv'].map((name) => `metric:${name}`).sort(),
  )
  expect(owners.find(({ id }) => id === 'metric:mrr')).toMatchObject({
    title: 'MRR',
    note: 'Recurring revenue',
    href: '/metrics/mrr?env=sandbox',
  })
  expect(owners.at(-1)).toMatchObject({ title: 'Lifetime value', href: '/retention?env=sandbox#ltv' })
  const guests = metricChoices(definitions, { state: 'guest', basis: 'proceeds', metrics: null }, href)
  expect(guests.map(({ id }) => id)).not.toContain('metric:mrr_movements')
  // Their link has one view.
  const limited = metricChoices(definitions, { state: 'guest', basis: 'gross', metrics: ['ltv'] }, href)
  expect(limited.at(-1)).toMatchObject({ title: 'Lifetime value', href: '/?env=sandbox#ltv' })
})

const lantern = { id: 'app_1', organization_id: 'org_1', bundle_id: 'com.example.lantern', name: 'Lantern' }
const torch = { id: 'app_2', organization_id: 'org_2', bundle_id: 'com.example.torch', name: null }

function choicesOf(fields: Partial<ScopeContext>) {
  const changes: Partial<Scope>[] = []
  const choices = scopeChoices({
    apps: [lantern],
    scope: scopeFrom({}),
    session: { state: 'owner', basis: null },
    parts: 'all',
    change: (change) => changes.push(change),
    href,
    ...fields,
  })
  const titles = choices.map(({ title }) => title)
  async function run(id: string): Promise<Partial<Scope> | undefined> {
    const choice = choices.find((one) => one.id === id)
    if (choice && 'run' in choice) await choice.run()
    return changes.at(-1)
  }
  return { choices, titles, run }
}

test('an app is chosen in the view in sight, with its organization if there are several', async () => {
  expect(await choicesOf({}).run('app:app_1')).toEqual({ apps: ['app_1'], organization: null })
  const several = choicesOf({ apps: [lantern, torch] })
  expect(several.titles.slice(0, 2)).toEqual(['Lantern', 'com.example.torch'])
  expect(await several.run('app:app_2')).toEqual({ apps: ['app_2'], organization: 'org_2' })
  expect(await choicesOf({ scope: scopeFrom({ app: 'app_1' }) }).run('app:all')).toMatchObject({ apps: [] })
})

test('where the view has no apps, an app opens the first view', () => {
  const { choices } = choicesOf({ apps: [lantern, torch], parts: null })
  expect(choices).toMatchObject([
    { id: 'app:app_1', href: '/?env=sandbox&app=app_1&org=org_1' },
    { id: 'app:app_2', href: '/?env=sandbox&app=app_2&org=org_2' },
  ])
})

test('offers the options of the view in sight, without the chosen ones', async () => {
  const all = choicesOf({ scope: scopeFrom({ range: '7d', display: 'EUR' }) })
  expect(all.titles).toContain('Date range: Last 28 days')
  expect(all.titles).not.toContain('Date range: Last 7 days')
  expect(all.titles).toContain('Display currency: your currency')
  expect(all.titles).not.toContain('Display currency: EUR – Euro')
  expect(all.titles).toContain('Amounts: Proceeds')
  expect(await all.run('range:28d')).toEqual({ range: '28d' })
  expect(await all.run('display:own')).toEqual({ display: null })
  const { titles } = choicesOf({ parts: 'money' })
  expect(titles.some((title) => title.startsWith('Date range'))).toBe(false)
  expect(titles).toContain('Amounts: Proceeds')
  expect(choicesOf({ parts: 'amounts' }).titles).not.toContain('Amounts: Proceeds')
  expect(choicesOf({ parts: 'place' }).titles).toEqual(['Lantern', 'Sandbox data'])
  const guest = choicesOf({ session: { state: 'guest', basis: 'proceeds' } })
  expect(guest.titles).not.toContain('Amounts: Proceeds')
})
