/** The company's calendar, in fractions of the simulated history. */
import { APPS } from '../world/catalogue.ts'
import { openPerson } from '../world/people.ts'
import type { Script, World } from '../world/world.ts'
import {
  activeSubscriptionsTo,
  changeAdvanced,
  extendAll,
  increasePriceOf,
  migrate,
  rescindConsent,
  sendTest,
  sendToken,
  subscribeAdvanced,
} from './company.ts'

type ScheduledAction = { part: number; run: (world: World) => void }

const at = (part: number, run: (world: World) => void): ScheduledAction => ({ part, run })

const TEST_NOTIFICATIONS = APPS.flatMap((app, index) => [
  at(0.001 + index * 0.02, (world) => sendTest(world, app, 'sandbox')),
  at(0.002 + index * 0.02, (world) => sendTest(world, app, 'production')),
])

const TOKENS = [
  at(0.2, (world) => sendToken(world, 'sandbox', 'CREATED')),
  at(0.22, (world) => sendToken(world, 'production', 'CREATED')),
  at(0.31, (world) => sendToken(world, 'production', 'UNREPORTED')),
  at(0.43, (world) => sendToken(world, 'production', 'ACTIVE_TOKEN_REMINDER')),
  at(0.58, (world) => sendToken(world, 'production', 'CREATED')),
  at(0.77, (world) => sendToken(world, 'production', 'UNREPORTED')),
]

function changeAllAdvanced(type: 'METADATA_UPDATE' | 'PRICE_CHANGE') {
  return (world: World) => {
    for (const sub of activeSubscriptionsTo(world, 'chord.tuition')) changeAdvanced(world, sub, type)
  }
}

const CONSENT_RESCINDED = [0.18, 0.49, 0.83].map((part) =>
  at(part, (world) => rescindConsent(world, openPerson(world, `child/${part}`, { silent: true }))),
)

const CALENDAR: readonly ScheduledAction[] = [
  ...TEST_NOTIFICATIONS,
  ...TOKENS,
  ...CONSENT_RESCINDED,
  ...[0.1, 0.16, 0.3].map((part) => at(part, (world) => void subscribeAdvanced(world, `pupil/${part}`))),
  at(0.36, changeAllAdvanced('METADATA_UPDATE')),
  at(0.4, (world) => void migrate(world, 'migrant')),
  at(0.55, changeAllAdvanced('PRICE_CHANGE')),
  at(0.46, (world) => extendAll(world, 'margin.pro.monthly', 3)),
  at(0.6, (world) => increasePriceOf(world, 'tides.plus.monthly', 1.2, true)),
  at(0.68, (world) => increasePriceOf(world, 'margin.plus.monthly', 1.1, false)),
  at(0.72, (world) => increasePriceOf(world, 'margin.pro.monthly', 1.15, true)),
  at(0.8, (world) => void world.withdrawn.add('chord.piano.monthly')),
]

/** Plays the calendar between two instants. `share`: of what stands in it, the part that happens. */
export function* companyScript(world: World, from: number, until: number, share: number): Script {
  const random = world.random.fork('company')
  const chosen = CALENDAR.filter(() => random.chance(share)).sort((a, b) => a.part - b.part)
  for (const { part, run } of chosen) {
    yield from + part * (until - from)
    run(world)
  }
}
