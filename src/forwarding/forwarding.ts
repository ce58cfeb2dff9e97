/** Forwarding: sends events to the owner’s endpoints, each at least once, with the same id on every attempt. */
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Erasures } from '../attribution/erasure/erasure.ts'
import type { Clock } from '../clock.ts'
import type { Feed } from '../events/feed.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Log } from '../log.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Stoppages } from '../stoppages.ts'
import type { Store } from '../store/store.ts'
import type { Bodies } from './bodies/bodies.ts'
import { openOwnThings } from './bodies/own_things.ts'
import { openDeliveries } from './deliveries/deliveries.ts'
import { openErasing } from './deliveries/erasing.ts'
import { openLog } from './deliveries/log.ts'
import { openRetention } from './deliveries/retention.ts'
import { openAdministration } from './endpoints/administration.ts'
import { openDeclaredEndpoints } from './endpoints/declared.ts'
import { openEndpoints } from './endpoints/endpoints.ts'
import { examineForwarding, examineSteadiness } from './endpoints/findings.ts'
import { openEndpointSecrets } from './endpoints/secrets.ts'
import { openReplays } from './replays/replays.ts'
import { openRetrying, type WantedProbes } from './replays/retrying.ts'
import { openSelection } from './replays/selection.ts'
import { openAnnouncing } from './sending/announcing.ts'
import { openAttempts } from './sending/attempts.ts'
import { openCourier } from './sending/courier.ts'
import { openFilling } from './sending/filling.ts'
import { openFreezing } from './sending/freezing.ts'
import { openInFlight } from './sending/in_flight.ts'
import { openResults } from './sending/results.ts'
import { openFeedSource, openNotificationSource } from './sending/sources.ts'
import { openTestEvents } from './sending/test_events.ts'
import { openThrottle } from './sending/throttle.ts'
import { openTroubles } from './sending/troubles.ts'

type Deps = {
  store: Store
  clock: Clock
  monotonic: Clock
  random: () => number
  log: Log
  stoppages: Pick<Stoppages, 'watch' | 'noteWhole'>
  feed: Feed
  ledger: Ledger
  apps: Apps
  organizations: Organizations
  erasures: Erasures
  outgoing: Outgoing
  bodies: Bodies
}

export type Forwarding = ReturnType<typeof openForwarding>

/** Opens forwarding. Nothing is sent before `start`. */
export function openForwarding(deps: Deps) {
  const { store, clock, log, outgoing, bodies } = deps
  const isHeld = () => outgoing.held.state() !== null
  const sending = openSending(deps, isHeld)
  const { shared, inFlight, erasures, troubles, results, filling, replays, wanted, courier } = sending
  const { endpoints, secrets, freezing } = shared
  const { wake } = courier
  const { positionOf } = filling
  const administration = { ...shared, positionOf, stopReplays: replays.stopAll, wake }
  const { apps, organizations } = deps
  const declared = openDeclaredEndpoints({ ...administration, organizations, apps, results, log })
  const deliveryLog = openLog({ ...shared, filling })
  const { expire } = openRetention({ store, clock, isInFlight: inFlight.has })
  const { list } = endpoints
  const owned = openAdministration(administration)
  const retrying = { ...shared, requireEndpoint: owned.get, replays, wanted, isHeld, wake }
  deps.feed.listen(wake)

  return {
    endpoints: owned,
    secretDates: secrets.dates,
    headersOf: secrets.headers,
    replays,
    retrying: openRetrying(retrying),
    log: deliveryLog,
    test: openTestEvents({
      ...shared,
      erasures: { count: erasures.count, admit: deps.erasures.admit },
      request: outgoing.dispatcher.request,
      bodies,
      ownThings: openOwnThings({ store, apps }),
      isHeld,
    }),
    dismissLosses: shared.deliveries.dismiss,
    declare: declared.declare,
    findings: () => [
      ...examineForwarding({
        clock,
        list,
        healthOf: deliveryLog.healthOf,
        lostOf: shared.deliveries.lost,
        isFull: filling.isFull,
        troubleOf: troubles.of,
      }),
    ],
    unsteady: () => [...examineSteadiness({ list, healthOf: deliveryLog.healthOf })],
    expire,
    wake,
    tick: courier.tick,
    start: courier.start,
    settled: courier.settled,
    close: openClosing({ courier, freezing, filling, log }),
  }
}

/** Opens what is stored, and what sends it. */
function openSending(deps: Deps, isHeld: () => boolean) {
  const { store, clock, monotonic, random, log, feed, outgoing, bodies } = deps
  const { request } = outgoing.dispatcher
  const endpoints = openEndpoints(store)
  const deliveries = openDeliveries(store)
  const secrets = openEndpointSecrets({ store, clock, secrets: outgoing.secrets })
  const inFlight = openInFlight()
  const sources = {
    events: openFeedSource(store, feed, bodies),
    apple: openNotificationSource(store, deps.ledger),
  }
  const erasures = openErasing({ store, erasures: deps.erasures, deliveries, inFlight })
  const { scrubText } = erasures
  const freezing = openFreezing({ store, deliveries, sources, erasures, monotonic })
  const { forgetUntried } = freezing
  const results = openResults({ clock, monotonic, random, feed, endpoints, deliveries, scrubText })
  const throttle = openThrottle({ monotonic })
  const shared = { store, clock, monotonic, log, endpoints, deliveries, secrets, sources, freezing, throttle }
  const troubles = openTroubles(shared)
  const attempts = openAttempts({ ...shared, inFlight, results, erasures, troubles, request })
  const filling = openFilling(shared)
  const replays = openReplays({ ...shared, filling, selection: openSelection(shared) })
  const wanted: WantedProbes = new Map()
  const served = {
    ...shared,
    stoppages: deps.stoppages,
    filling,
    replays,
    wanted,
    attempts,
    inFlight,
    troubles,
  }
  const announce = openAnnouncing({ ...shared, feed, stoppages: deps.stoppages })
  const courier = openCourier({ ...served, isHeld, forgetUntried, announce })
  return { shared, inFlight, erasures, troubles, results, filling, replays, wanted, courier }
}

type ClosingDeps = {
  courier: { close: () => Promise<void> }
  freezing: { forgetUnsent: () => Promise<void> }
  filling: { storePositions: () => Promise<void> }
  log: Log
}

/** Returns a function that stops sending. A second call waits for the first. */
function openClosing({ courier, freezing, filling, log }: ClosingDeps): () => Promise<void> {
  let closing: Promise<void> | null = null

  /** Bodies that were not sent are made again after the next start, unless this cannot be stored. */
  async function storeState(): Promise<void> {
    try {
      await Promise.all([freezing.forgetUnsent(), filling.storePositions()])
    } catch (error) {
      log.warn('the state of forwarding could not be stored at the stop', { error })
    }
  }

  return () => {
    closing ??= courier.close().then(storeState)
    return closing
  }
}
