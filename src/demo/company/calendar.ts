/** The company's calendar: events at fractions of the simulated history. */
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

type ScheduledAction = { fraction: number; run: (world: World) => void }

const schedule = (fraction: number, run: (world: World) => void): ScheduledAction => ({ fraction, run })

const TEST_NOTIFICATIONS = APPS.flatMap((app, index) => [
  schedule(0.001 + index * 0.02, (world) => sendTest(world, app, 'sandbox')),
  schedule(0.002 + index * 0.02, (world) => sendTest(world, app, 'production')),
])

const TOKENS = [
  schedule(0.2, (world) => sendToken(world, 'sandbox', 'CREATED')),
  schedule(0.22, (world) => sendToken(world, 'production', 'CREATED')),
  schedule(0.31, (world) => sendToken(world, 'production', 'UNREPORTED')),
  schedule(0.43, (world) => sendToken(world, 'production', 'ACTIVE_TOKEN_REMINDER')),
  schedule(0.58, (world) => sendToken(world, 'production', 'CREATED')),
  schedule(0.77, (world) => sendToken(world, 'production', 'UNREPORTED')),
]

function changeAllAdvanced(type: 'METADATA_UPDATE' | 'PRICE_CHANGE') {
  return (world: World) => {
    for (const sub of activeSubscriptionsTo(world, 'chord.tuition')) changeAdvanced(world, sub, type)
  }
}

const CONSENT_RESCINDED = [0.18, 0.49, 0.83].map((fraction) =>
  schedule(fraction, (world) =>
    rescindConsent(world, openPerson(world, `child/${fraction}`, { silent: true })),
  ),
)

const CALENDAR: readonly ScheduledAction[] = [
  ...TEST_NOTIFICATIONS,
  ...TOKENS,
  ...CONSENT_RESCINDED,
  ...[0.1, 0.16, 0.3].map((fraction) =>
    schedule(fraction, (world) => void subscribeAdvanced(world, `pupil/${fraction}`)),
  ),
  schedule(0.36, changeAllAdvanced('METADATA_UPDATE')),
  schedule(0.4, (world) => void migrate(world, 'migrant')),
  schedule(0.55, changeAllAdvanced('PRICE_CHANGE')),
  schedule(0.46, (world) => extendAll(world, 'margin.pro.monthly', 3)),
  schedule(0.6, (world) => increasePriceOf(world, 'tides.plus.monthly', 1.2, true)),
  schedule(0.68, (world) => increasePriceOf(world, 'margin.plus.monthly', 1.1, false)),
  schedule(0.72, (world) => increasePriceOf(world, 'margin.pro.monthly', 1.15, true)),
  schedule(0.8, (world) => void world.withdrawn.add('chord.piano.monthly')),
]

/** Runs the calendar between two instants. Each event happens with the given probability. */
export function* companyScript(world: World, from: number, until: number, probability: number): Script {
  const random = world.random.fork('company')
  const chosen = CALENDAR.filter(() => random.chance(probability)).sort((a, b) => a.fraction - b.fraction)
  for (const { fraction, run } of chosen) {
    yield from + fraction * (until - from)
    run(world)
  }
}
