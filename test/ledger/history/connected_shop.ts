/** A Windfall connected to a simulated store, for tests of Apple's histories. */
import type { Environment } from '../../../src/apple/payloads.ts'
import { signerOf } from '../../../src/demo/signing/signatures.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import type { LossRule } from '../../../src/demo/world/sent_log.ts'
import { signNotification, type UnsignedNotification } from '../../../src/demo/world/unsigned.ts'
import { NOW } from '../../apple/samples.ts'
import { closedAtEnd } from '../../closing.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../../helpers.ts'
import { openFaultProxy } from './fault_proxy.ts'

export const DAY = 86_400_000
export const HOUR = 3_600_000
/** How far back Apple shows notifications, and the margin that Windfall leaves. */
const REACH = 180 * DAY - 5 * 60_000

export type Shop = Awaited<ReturnType<typeof openShop>>

type Options = {
  seed?: number
  subscribers?: number
  days?: number
  lost?: LossRule
  clock?: ReturnType<typeof handClock>
}

/** The simulated store and its customers up to NOW, with a fault proxy before each environment of its Server API. */
export async function openShop({ seed = 5, subscribers = 30, days = 400, lost, ...more }: Options = {}) {
  const authority = await sharedAuthority()
  const clock = more.clock ?? handClock(NOW)
  const simulation = openSimulation({ seed, from: NOW - days * DAY, until: NOW, subscribers, authority })
  simulation.skip(NOW)
  const store = await openAppStore({ simulation, authority, clock, ...(lost && { lost }) })
  const production = await openFaultProxy(store.hosts.server.production)
  const sandbox = await openFaultProxy(store.hosts.server.sandbox)
  const hosts = { ...store.hosts, server: { production: production.origin, sandbox: sandbox.origin } }
  const { apps, world } = simulation

  async function close(): Promise<void> {
    await Promise.all([production.close(), sandbox.close()])
    await store.close()
  }

  /** What an app environment sent within a time, oldest first. */
  const sent = (bundle_id: string, environment: Environment, from: number, until: number) =>
    world.sent.between(bundle_id, environment, from, until).map(({ payload }) => payload)

  /** The signed texts of what was sent. */
  const signed = (payload: UnsignedNotification): string =>
    signNotification(payload, signerOf(authority)).signedPayload

  const appEnvironments = apps.flatMap(({ bundle_id }) =>
    (['production', 'sandbox'] as const).map((environment) => ({ bundle_id, environment })),
  )

  /** All customers with a notification in the last 180 days. */
  function people() {
    const found = appEnvironments.flatMap(({ bundle_id, environment }) =>
      sent(bundle_id, environment, clock() - REACH, clock()).map(({ data }) =>
        world.find(environment, data?.signedTransactionInfo?.transactionId ?? ''),
      ),
    )
    return [...new Set(found.filter((person) => person !== null))]
  }

  /**
   * Every transaction that Apple shows to a client that begins with the notifications of 180 days and reads the
   * history of every customer in them: `app environment id`.
   */
  const shown = (): string[] =>
    people()
      .flatMap((person) =>
        world
          .of(person)
          .map(({ sale }) => `${person.app.bundle_id} ${person.environment} ${sale.transactionId}`),
      )
      .sort()

  return closedAtEnd({
    clock,
    simulation,
    store,
    production,
    sandbox,
    hosts,
    apps,
    appEnvironments,
    sent,
    signed,
    people,
    shown,
    close,
  })
}

/** Opens a Windfall that has all of the shop's apps, and the shop's key. */
export async function connectTo(
  shop: Shop,
  options: { folder?: string; logged?: string[] } = {},
): Promise<TestApp> {
  const { clock, hosts } = shop
  const apps = shop.apps.map(({ bundle_id, apple_id }) => ({ bundle_id, apple_id }))
  const app = await openTestApp({ ...options, clock, hosts, apps })
  declareKeys(app, shop.store.purchase_key)
  return app
}

/** Gives the organization's account this In-App Purchase key. */
export function declareKeys(
  { windfall, organization }: TestApp,
  purchases: Shop['store']['purchase_key'],
): void {
  windfall.accounts.declare([
    { organization_id: organization.id, connect: null, purchases, vendor_numbers: [] },
  ])
}

/** Every transaction in the ledger: `app environment id`. */
export function holdCommits({ windfall }: TestApp): string[] {
  return windfall.store
    .prepare<[], { name: string }>(`
      select bundle_id || ' ' || environment || ' ' || transaction_id as name
      from transactions join apps on apps.id = app_id`)
    .all()
    .map(({ name }) => name)
    .sort()
}

/** Delivers notifications to Windfall up to `until`, in order, and turns the clock along. */
export async function liveUntil(
  shop: Shop,
  { windfall }: TestApp,
  until: number,
  purchases_per_minute?: number,
) {
  const more = purchases_per_minute === undefined ? {} : { purchases_per_minute }
  for (const step of shop.simulation.advance(until, more)) {
    shop.clock.set(Math.max(shop.clock(), step.at))
    if (step.kind === 'notification') await windfall.arrivals.receive(step.body.signedPayload, null, null)
  }
  shop.clock.set(until)
}
