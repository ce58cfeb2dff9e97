/** Simulated one-time purchases: consumables, non-consumables and non-renewing subscriptions. */
import { buyGood } from '../world/charge.ts'
import { familyMember, type Person } from '../world/people.ts'
import { DAY, MINUTE, SECOND } from '../world/periods.ts'
import type { OwnedGood } from '../world/subscription.ts'
import type { BrowseTime, Script, World } from '../world/world.ts'
import { reportPurchase } from './calls.ts'
import { isRefundable, type Outcome, refundScript } from './refunds.ts'

const OUTCOMES: readonly { outcome: Outcome; weight: number }[] = [
  { outcome: 'whole', weight: 60 },
  { outcome: 'declined', weight: 25 },
  { outcome: 'reversed', weight: 15 },
]

function maybeRequestRefund(world: World, owned: OwnedGood): void {
  const { random } = owned.person
  if (!random.chance(world.edgeCases ? 0.2 : 0.05) || !isRefundable(world, owned)) return
  world.start(refundScript(world, owned, random.weighted(OUTCOMES).outcome))
}

function buyAndReport(world: World, person: Person): OwnedGood {
  const { random, app } = person
  const good = random.weighted(app.goods)
  const quantity = good.max_quantity > 1 && random.chance(0.3) ? random.whole(2, good.max_quantity) : 1
  const owned = buyGood(world, person, good, { quantity, code: random.chance(0.06) })
  world.start(reportPurchase(world, person, owned))
  maybeRequestRefund(world, owned)
  if (good.family && random.chance(0.2)) {
    buyGood(world, familyMember(world, person, 1), good, { shared: true })
  }
  return owned
}

/** A customer who buys one-time products of an app some seconds after installing it, until they lose interest. */
export function* shopperScript(world: World, person: Person, browseTime: BrowseTime): Script {
  const { random, app } = person
  if (app.goods.length === 0) return
  yield world.now() + random.between(browseTime.from, browseTime.to) * SECOND
  let owned = buyAndReport(world, person)
  while (owned.good.type !== 'Non-Consumable' && random.chance(0.62)) {
    yield world.now() + (person.environment === 'sandbox' ? MINUTE : DAY) * random.between(1, 60)
    owned = buyAndReport(world, person)
  }
}
