/**
 * What an app may expect of the SDK: the reports that its calls mean, in order, by user. A report is `sure` or, after a
 * kill that may have cut its call, not.
 */
type Sure = { sure: boolean }
type Report = Sure & { user: string }
type Value = Sure & { value: number }

/** Who the calls are for, and what was reported of the anonymous id. */
type Who = {
  anonymousId: string
  user: string | null
  /** By name, all values so far. */
  attributes: Map<string, Value[]>
  purchases: Map<string, boolean>
}

export type Identity = { appUserId: string | null; anonymousId: string | null }

export type Call =
  | { call: 'identify'; user: string; value?: number }
  | { call: 'setAttributes'; name: string; value: number }
  | { call: 'reset' }
  | { call: 'attributePurchase'; purchase: string; isAsked: boolean; jws?: string }

/** How a call ended: in the storage, in memory because the storage refused it, or by a kill. */
type Ending = 'stored' | 'risky' | 'cut'

const isKnown = (user: string) => !user.startsWith('$anon_')
const newWho = (anonymousId: string, user: string | null = null): Who => ({
  anonymousId,
  user,
  attributes: new Map(),
  purchases: new Map(),
})

export function openModel(first: Identity) {
  const purchases = new Map<string, Report[]>()
  /** By user and name of the attribute. */
  const values = new Map<string, Value[]>()
  const users = new Set<string>()
  let who = newWho(first.anonymousId ?? '')
  /** What a kill may undo since the storage had everything. */
  let risky: { made: Sure[]; before: Who; ending: Ending }[] = []
  /** No kill so far lost what the storage had refused. */
  let isPureSoFar = true

  const valuesOf = (user: string, name: string) => listIn(values, `${user} ${name}`)

  function identify(call: Call & { call: 'identify' }, sure: boolean): Sure[] {
    const made: Sure[] = []
    const old = who
    if (old.user !== call.user) who = newWho(old.anonymousId, call.user)
    if (old.user === null) {
      for (const [name, one] of [...old.attributes].flatMap(([each, all]) =>
        lastOf(all).map((one) => [each, one] as const),
      ))
        made.push(added(valuesOf(call.user, name), { value: one.value, sure: sure && one.sure }))
      for (const [purchase, isSure] of old.purchases)
        made.push(added(listIn(purchases, purchase), { user: call.user, sure: sure && isSure }))
    }
    if (call.value !== undefined) made.push(added(valuesOf(call.user, 'a'), { value: call.value, sure }))
    return made
  }

  function attributePurchase(call: Call & { call: 'attributePurchase' }, sure: boolean): Sure[] {
    const user = who.user ?? who.anonymousId
    const reports = listIn(purchases, call.purchase)
    const isOthers = reports.some((one) => isKnown(one.user) && one.sure)
    if (!call.isAsked && !isKnown(user) && isOthers && isPureSoFar) return []
    // A report that was not asked for is left out where it changes nothing.
    const isSure = sure && (call.isAsked || reports.length === 0)
    if (who.user === null)
      who.purchases.set(call.purchase, isSure || who.purchases.get(call.purchase) === true)
    return [added(reports, { user, sure: isSure })]
  }

  function made(call: Call, anonymousId: string, sure: boolean): Sure[] {
    if (call.call === 'identify') return identify(call, sure)
    if (call.call === 'attributePurchase') return attributePurchase(call, sure)
    if (call.call === 'reset') {
      who = newWho(anonymousId)
      return []
    }
    const value = { value: call.value, sure }
    if (who.user === null) who.attributes.set(call.name, [...(who.attributes.get(call.name) ?? []), value])
    return [added(valuesOf(who.user ?? who.anonymousId, call.name), value)]
  }

  /** Applies a call that ended so. `anonymousId` is the one after it. */
  function apply(call: Call, anonymousId: string, ending: Ending): void {
    const before = { ...who, attributes: new Map(who.attributes), purchases: new Map(who.purchases) }
    const reports = made(call, anonymousId, ending !== 'cut')
    if (call.call === 'identify' && ending === 'stored') users.add(call.user)
    risky = ending === 'stored' ? [] : [...risky, { made: reports, before, ending }]
  }

  /** After a kill and a restart: what was at risk may be lost, and the identity may be an earlier one. */
  function restart(now: Identity, isPure: boolean): void {
    for (const one of risky.flatMap((call) => call.made)) one.sure = false
    // A known user who was left, in a call that ended, does not come back, even if the storage refused to say so.
    const earlier = risky
      .filter(({ before, ending }) => ending === 'cut' || before.user === null)
      .map(({ before }) => before)
      .reverse()
    risky = []
    isPureSoFar &&= isPure
    const user = now.appUserId === now.anonymousId ? null : now.appUserId
    const found = [who, ...earlier].find(
      (one) => one.user === user && (one.anonymousId === now.anonymousId || user !== null),
    )
    if (!found && user !== null) throw new Error(`after a kill the user is ${user}`)
    who = { ...(found ?? newWho('', user)), anonymousId: now.anonymousId ?? '' }
    if (!isPure) forgetCertainty()
  }

  function forgetCertainty(): void {
    for (const [name, all] of who.attributes)
      who.attributes.set(
        name,
        all.map((one) => ({ ...one, sure: false })),
      )
    for (const purchase of who.purchases.keys()) who.purchases.set(purchase, false)
  }

  return { apply, restart, purchases, values, users }
}

/** The last sure value and those after it: one of them is the last. */
const lastOf = (all: readonly Value[]) =>
  all.slice(Math.max(0, all.map(({ sure }) => sure).lastIndexOf(true)))

function listIn<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}

function added<T>(list: T[], one: T): T {
  list.push(one)
  return one
}

/** Whether `held`, the users that held a purchase one after another, follows from the reports. */
export function follows(held: readonly string[], reports: readonly Report[]): boolean {
  let at = new Set([0])
  for (const report of reports) at = new Set([...at].flatMap((count) => after(report, held, count)))
  return at.has(held.length)
}

/** How many of `held` may have been reached after a report, from `count`. */
function after({ user, sure }: Report, held: readonly string[], count: number): number[] {
  const reached = sure ? [] : [count]
  if (held[count - 1] === user) return [...reached, count]
  return held[count] === user ? [...reached, count + 1] : reached
}
