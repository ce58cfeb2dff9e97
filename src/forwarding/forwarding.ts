/** Forwarding: sends events to the owner’s endpoints, each at least once, with the same id on every attempt. */
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Erasures } from '../attribution/erasure/erasure.ts'
import type { Clock } from '../clock.ts'
import type { Feed } from '../events/feed.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Log } from '../log.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Store } from '../store/store.ts'
import { openAdministration } from './administration.ts'
import { openAttempts } from './attempts.ts'
import type { Bodies } from './bodies/bodies.ts'
import { openCourier } from './courier.ts'
import { openDeclaredEndpoints } from './declared.ts'
import { openDeliveries } from './deliveries.ts'
import { openEndpoints } from './endpoints.ts'
import { openErasing } from './erasing.ts'
import { openFilling } from './filling.ts'
import { examineForwarding } from './findings.ts'
import { openFreezing } from './freezing.ts'
import { openInFlight } from './in_flight.ts'
import { openLog } from './log.ts'
import { openReplays } from './replays.ts'
import { openResults } from './results.ts'
import { openRetention } from './retention.ts'
import { openEndpointSecrets } from './secrets.ts'
import { openSelection } from './selection.ts'
import { openFeedSource, openNotificationSource } from './sources.ts'
import { openTestEvents } from './test_events.ts'

type Deps = {
  store: Store
  clock: Clock
  monotonic: Clock
  random: () => number
  log: Log
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
  const { store, clock, monotonic, random, log, feed, outgoing, bodies } = deps
  const isHeld = () => outgoing.held.state() !== null
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
  const results = openResults({ clock, monotonic, random, feed, endpoints, deliveries, scrubText })
  const shared = { store, clock, endpoints, deliveries, secrets, sources, freezing }
  const attempts = openAttempts({ ...shared, inFlight, results, request })
  const filling = openFilling(shared)
  const replays = openReplays({ ...shared, filling, selection: openSelection(shared) })
  const courier = openCourier({ ...shared, monotonic, log, filling, replays, attempts, inFlight, isHeld })
  const { wake } = courier
  const administration = { ...shared, wake }
  const { apps, organizations } = deps
  const declared = openDeclaredEndpoints({ ...administration, organizations, apps, results, log })
  const deliveryLog = openLog({ ...shared, filling })
  const { expire } = openRetention({ store, clock, isInFlight: inFlight.has })
  const { list } = endpoints
  feed.listen(wake)

  /** Stops sending. Bodies that were not sent are made again after the next start. */
  async function close(): Promise<void> {
    await courier.close()
    await freezing.forgetUnsent()
  }

  return {
    endpoints: openAdministration(administration),
    secretDates: secrets.dates,
    headersOf: secrets.headers,
    replays,
    log: deliveryLog,
    test: openTestEvents({ ...shared, request, bodies, isHeld }),
    declare: declared.declare,
    findings: () => [...examineForwarding({ clock, list, healthOf: deliveryLog.healthOf })],
    expire,
    wake,
    tick: courier.tick,
    start: courier.start,
    settled: courier.settled,
    close,
  }
}
