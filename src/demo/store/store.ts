/** Serves the simulated App Store's two APIs for one simulated world. */
import type { AppleHosts } from '../../apple/api/hosts.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Clock } from '../../clock.ts'
import { signerOf } from '../signing/signatures.ts'
import type { Simulation } from '../simulation.ts'
import type { LossRule } from '../world/sent_log.ts'
import { openConnectRoutes } from './connect.ts'
import { noFaults, type StoreFaults } from './fault_injection.ts'
import { openGroundTruth } from './ground_truth.ts'
import { openHistories } from './history.ts'
import { type Handler, type HostName, type LoggedRequest, openListener } from './listener.ts'
import { openNotificationHistory } from './notifications.ts'
import { unavailable } from './refusals.ts'
import { openReports, openTimetable } from './reports.ts'
import { openServerRoutes } from './server_api.ts'
import { openTestNotifications } from './test_notifications.ts'
import { newKeys } from './tokens.ts'

const VENDOR_NUMBER = '85421907'

type StoreOptions = {
  simulation: Simulation
  /** The one that the simulation signs with. */
  authority: { sign: (payload: object) => string }
  clock: Clock
  /** Notifications that never reach the appliance, and stand in the notification history alone. */
  lost?: LossRule
}

export type AppStore = Awaited<ReturnType<typeof openAppStore>>

/**
 * App Store Connect and the App Store Server API of both environments, on three ports of 127.0.0.1. They show the
 * world as of `clock()`: before each answer it is played up to there, and what it delivers meanwhile waits for
 * `simulation.advance`.
 */
export async function openAppStore(o: StoreOptions) {
  const { simulation, clock } = o
  const { world, books, apps } = simulation
  const keys = newKeys()
  const faults: StoreFaults = noFaults(apps)
  const requests: LoggedRequest[] = []
  const sign = signerOf(o.authority)
  if (o.lost !== undefined) simulation.lose(o.lost)

  const notifications = openNotificationHistory({ sent: world.sent, sign, clock, faults })
  const histories = openHistories({ holdings: world, sign, clock })
  const tests = openTestNotifications({ sent: world.sent, sign, clock, faults })
  const timetable = openTimetable(clock, faults)
  const reports = openReports({ books, clock, faults, timetable, vendor_number: VENDOR_NUMBER })
  const truth = openGroundTruth({ world, clock, timetable, catchUp: simulation.catchUp })
  const handlers: Record<HostName, Handler> = {
    connect: openConnectRoutes({ key: keys.connect_key, clock, faults, apps, reports }),
    production: serverOf('production'),
    sandbox: serverOf('sandbox'),
  }

  function serverOf(environment: 'production' | 'sandbox'): Handler {
    const key = keys.purchase_key
    return openServerRoutes({ environment, key, clock, faults, apps, notifications, histories, tests })
  }

  /** The world is where the clock is, and the store is in its mood. */
  const withFaults =
    (handler: Handler): Handler =>
    (request) => {
      simulation.catchUp(clock())
      if (faults.unavailable <= 0) return handler(request)
      faults.unavailable -= 1
      return unavailable()
    }

  const open = (host: HostName) =>
    openListener({ host, clock, handler: withFaults(handlers[host]), requests })
  const [connect, production, sandbox] = await Promise.all([
    open('connect'),
    open('production'),
    open('sandbox'),
  ])
  const hosts: AppleHosts = {
    connect: connect.origin,
    server: { production: production.origin, sandbox: sandbox.origin },
  }
  const keysOf: { connect_key: ApiKey; purchase_key: ApiKey } = keys

  return {
    hosts,
    ...keysOf,
    vendor_number: VENDOR_NUMBER,
    faults,
    requests: requests as readonly LoggedRequest[],
    /** When a day's reports are there, final, gone. */
    reports: timetable,
    /** What a perfect appliance would know now: the transactions, and the sums of the sales reports. */
    ...truth,
    /** Waits until all notifications have been sent. */
    settled: tests.settled,
    async close(): Promise<void> {
      await tests.settled()
      await Promise.all([connect.close(), production.close(), sandbox.close()])
    },
  }
}
