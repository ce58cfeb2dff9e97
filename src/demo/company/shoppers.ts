/** What we compute: customers who buy single goods: credits again and again, a product for good, a season. */
import { buyGood } from '../world/charge.ts'
import { familyMember, type Person } from '../world/people.ts'
import { DAY, MINUTE, SECOND } from '../world/periods.ts'
import type { OwnedGood } from '../world/subscription.ts'
import type { Looks, Story, World } from '../world/world.ts'
import { reportPurchase } from './calls.ts'
import { isRefundable, type Outcome, refundStory } from './refunds.ts'

const OUTCOMES: readonly { outcome: Outcome; weight: number }[] = [
  { outcome: 'whole', weight: 60 },
  { outcome: 'declined', weight: 25 },
  { outcome: 'reversed', weight: 15 },
]

function mayAskForRefund(world: World, owned: OwnedGood): void {
  const { random } = owned.person
  if (!random.chance(world.odd ? 0.2 : 0.05) || !isRefundable(world, owned)) return
  world.begin(refundStory(world, owned, random.weighted(OUTCOMES).outcome))
}

function buyOnce(world: World, person: Person): OwnedGood {
  const { random, app } = person
  const good = random.weighted(app.goods)
  const quantity = good.most > 1 && random.chance(0.3) ? random.whole(2, good.most) : 1
  const owned = buyGood(world, person, good, { quantity, code: random.chance(0.06) })
  world.begin(reportPurchase(world, person, owned))
  mayAskForRefund(world, owned)
  if (good.family && random.chance(0.2)) {
    buyGood(world, familyMember(world, person, 1), good, { shared: true })
  }
  return owned
}

/** Somebody who looks around for some seconds, then buys goods of their app until they lose interest. */
export function* shopperLife(world: World, person: Person, looks: Looks): Story {
  const { random, app } = person
  if (app.goods.length === 0) return
  yield world.now() + random.between(looks.from, looks.to) * SECOND
  let owned = buyOnce(world, person)
  while (owned.good.type !== 'Non-Consumable' && random.chance(0.62)) {
    yield world.now() + (person.environment === 'sandbox' ? MINUTE : DAY) * random.between(1, 60)
    owned = buyOnce(world, person)
  }
}
