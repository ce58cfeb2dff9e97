/** Simulated one-time purchases: consumables, non-consumables and non-renewing subscriptions. */
import { buyGood } from '../world/charge.ts'
import { familyMember, type Person } from '../world/people.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../world/periods.ts'
import type { OwnedGood } from '../world/subscription.ts'
import type { BrowseTime, Script, World } from '../world/world.ts'
import { reportPurchase } from './calls.ts'
import { isRefundable, type Outcome, refundScript } from './refunds.ts'

const OUTCOMES: readonly { outcome: Outcome; weight: number }[] = [
  { outcome: 'whole', weight: 60 },
  { outcome: 'declined', weight: 25 },
  { outcome: 'reversed', weight: 15 },
]

function maybeRequestRefund(world: World, ownedGood: OwnedGood): void {
  const { random } = ownedGood.person
  if (!random.chance(world.edgeCases ? 0.2 : 0.05) || !isRefundable(world, ownedGood)) return
  world.start(refundScript(world, ownedGood, random.weighted(OUTCOMES).outcome))
}

function buyAndReport(world: World, person: Person): OwnedGood {
  const { random, app } = person
  const good = random.weighted(app.goods)
  const quantity = good.max_quantity > 1 && random.chance(0.3) ? random.whole(2, good.max_quantity) : 1
  const ownedGood = buyGood(world, person, good, { quantity, code: random.chance(0.06) })
  world.start(reportPurchase(world, person, ownedGood))
  maybeRequestRefund(world, ownedGood)
  if (good.family && random.chance(0.2)) {
    buyGood(world, familyMember(world, person, 1), good, { shared: true })
  }
  return ownedGood
}

/** A customer who buys a one-time product some seconds after installing the app, and randomly more later. */
export function* shopperScript(world: World, person: Person, browseTime: BrowseTime): Script {
  const { random, app } = person
  if (app.goods.length === 0) return
  yield world.now() + random.between(browseTime.from, browseTime.to) * SECOND_MS
  let ownedGood = buyAndReport(world, person)
  while (ownedGood.good.type !== 'Non-Consumable' && random.chance(0.62)) {
    yield world.now() + (person.environment === 'sandbox' ? MINUTE_MS : DAY_MS) * random.between(1, 60)
    ownedGood = buyAndReport(world, person)
  }
}
