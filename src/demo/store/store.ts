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
  /** The authority that the simulation signs with. */
  authority: { sign: (payload: object) => string }
  clock: Clock
  /** The notifications that never reach Windfall. The notification history contains them. */
  lost?: LossRule
}

export type AppStore = Awaited<ReturnType<typeof openAppStore>>

/**
 * Serves App Store Connect and the App Store Server API of both environments, on three ports of 127.0.0.1. They show
 * the world as of `clock()`: before each response, the world is simulated up to that instant. The steps of that time wait
 * until `simulation.advance` returns them.
 */
export async function openAppStore(options: StoreOptions) {
  const { simulation, clock } = options
  const { world, books, apps } = simulation
  const keys = newKeys()
  const faults: StoreFaults = noFaults(apps)
  const requests: LoggedRequest[] = []
  const sign = signerOf(options.authority)
  if (options.lost !== undefined) simulation.lose(options.lost)

  const notifications = openNotificationHistory({ sent: world.sent, sign, clock, faults })
  const histories = openHistories({ holdings: world, sign, clock })
  const tests = openTestNotifications({ sent: world.sent, sign, clock, faults })
  const timetable = openTimetable(clock, faults)
  const reports = openReports({ books, clock, faults, timetable, vendor_number: VENDOR_NUMBER })
  const truth = openGroundTruth({ world, clock, timetable, catchUp: simulation.catchUp })
  const handlers: Record<HostName, Handler> = {
    connect: openConnectRoutes({ key: keys.connect_key, clock, faults, apps, reports }),
    production: serverHandler('production'),
    sandbox: serverHandler('sandbox'),
  }

  function serverHandler(environment: 'production' | 'sandbox'): Handler {
    const key = keys.purchase_key
    return openServerRoutes({ environment, key, clock, faults, apps, notifications, histories, tests })
  }

  /** Simulates the world up to the clock's time before each request, and injects 503 responses. */
  const withFaults =
    (handler: Handler): Handler =>
    (request) => {
      simulation.catchUp(clock())
      if (faults.unavailable_requests <= 0) return handler(request)
      faults.unavailable_requests -= 1
      return unavailable()
    }

  const openHost = (host: HostName) =>
    openListener({ host, clock, handler: withFaults(handlers[host]), requests })
  const [connect, production, sandbox] = await Promise.all([
    openHost('connect'),
    openHost('production'),
    openHost('sandbox'),
  ])
  const hosts: AppleHosts = {
    connect: connect.origin,
    server: { production: production.origin, sandbox: sandbox.origin },
  }
  const apiKeys: { connect_key: ApiKey; purchase_key: ApiKey } = keys

  return {
    hosts,
    ...apiKeys,
    vendor_number: VENDOR_NUMBER,
    faults,
    requests: requests as readonly LoggedRequest[],
    /** Whether a day's reports are published, final, or no longer available. */
    reports: timetable,
    /** The expected state of Windfall now: the transactions, and the sums of the sales reports. */
    ...truth,
    /** Waits until all test notifications have been sent. */
    settled: tests.settled,
    async close(): Promise<void> {
      await tests.settled()
      await Promise.all([connect.close(), production.close(), sandbox.close()])
    },
  }
}
