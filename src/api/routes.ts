/** Lists every HTTP endpoint of the API. */
import type { Route } from '../http/route.ts'
import { channelRoutes } from './alerts/channels.ts'
import { deviceRoutes } from './alerts/devices.ts'
import { digestRoutes } from './alerts/digests.ts'
import { alertHistoryRoutes } from './alerts/history.ts'
import { muteRoutes } from './alerts/mute.ts'
import { ruleRoutes } from './alerts/rules.ts'
import { widgetFileRoutes } from './alerts/widget_files.ts'
import { widgetRoutes } from './alerts/widgets.ts'
import { appleRoutes } from './apple.ts'
import { appRoutes } from './apps.ts'
import { batchRoutes } from './batch.ts'
import { accessRoutes } from './customers/access.ts'
import { customerRoutes } from './customers/customers.ts'
import { erasureRoutes } from './customers/erasures.ts'
import { evidenceRoutes } from './customers/evidence.ts'
import { linkImportRoutes } from './customers/link_import.ts'
import { purchaseRoutes } from './customers/purchases.ts'
import { userRoutes } from './customers/users.ts'
import { eventRoutes } from './events.ts'
import { exportRoutes } from './exports.ts'
import { endpointActionRoutes } from './forwarding/actions.ts'
import { deliveryRoutes } from './forwarding/deliveries.ts'
import { endpointRoutes } from './forwarding/endpoints.ts'
import { lossRoutes } from './forwarding/losses.ts'
import { replayRoutes } from './forwarding/replays.ts'
import { retryRoutes } from './forwarding/retries.ts'
import { gapRoutes } from './gaps.ts'
import { historyRoutes } from './history.ts'
import { importRoutes } from './imports.ts'
import { jobRoutes } from './jobs.ts'
import { annotationRoutes } from './metrics/annotations.ts'
import { cohortRoutes } from './metrics/cohorts.ts'
import { coverageRoutes } from './metrics/coverage.ts'
import { metricRoutes } from './metrics/metrics.ts'
import { refundRoutes } from './metrics/refunds.ts'
import { todayRoutes } from './metrics/today.ts'
import { unconnectedRoutes } from './metrics/unconnected.ts'
import { monitoringRoutes } from './monitoring/monitoring.ts'
import { appleAppRoutes } from './owner/apple/apps.ts'
import { appleKeyRoutes } from './owner/apple/keys.ts'
import { firstStepRoutes } from './owner/first_steps.ts'
import { keyRoutes } from './owner/keys.ts'
import { linkUndoRoutes } from './owner/link_undo.ts'
import { organizationRoutes } from './owner/organizations.ts'
import { ownerRoutes } from './owner/owner.ts'
import { passkeyRoutes } from './owner/passkeys.ts'
import { pendingRoutes } from './owner/pending.ts'
import { secondFactorRoutes } from './owner/second_factor.ts'
import { securityRoutes } from './owner/security.ts'
import { settingsRoutes } from './owner/settings.ts'
import { shareLinkRoutes } from './owner/share_links.ts'
import { signInRoutes } from './owner/sign_in.ts'
import { systemRoutes } from './owner/system.ts'
import { testNotificationRoutes } from './owner/test_notification.ts'
import { tokenRoutes } from './owner/tokens.ts'
import { probeRoutes } from './probes.ts'
import { rateRoutes } from './rates.ts'
import { callLabelRoutes } from './sdk/call_labels.ts'
import { sdkRoutes } from './sdk/calls.ts'
import { attestedDeviceRoutes } from './sdk/devices.ts'
import { enrolmentRoutes } from './sdk/enrolment.ts'
import { statusRoutes } from './status.ts'

/** One factory for each resource. The OpenAPI document lists the resources in this order. */
const ROUTE_FACTORIES = [
  appleRoutes,
  sdkRoutes,
  enrolmentRoutes,
  attestedDeviceRoutes,
  callLabelRoutes,
  securityRoutes,
  signInRoutes,
  secondFactorRoutes,
  passkeyRoutes,
  shareLinkRoutes,
  tokenRoutes,
  organizationRoutes,
  ownerRoutes,
  eventRoutes,
  appRoutes,
  erasureRoutes,
  customerRoutes,
  purchaseRoutes,
  userRoutes,
  exportRoutes,
  accessRoutes,
  linkImportRoutes,
  cohortRoutes,
  jobRoutes,
  rateRoutes,
  historyRoutes,
  metricRoutes,
  coverageRoutes,
  importRoutes,
  todayRoutes,
  annotationRoutes,
  refundRoutes,
  unconnectedRoutes,
  batchRoutes,
  gapRoutes,
  evidenceRoutes,
  statusRoutes,
  keyRoutes,
  firstStepRoutes,
  appleKeyRoutes,
  appleAppRoutes,
  pendingRoutes,
  linkUndoRoutes,
  testNotificationRoutes,
  endpointRoutes,
  endpointActionRoutes,
  lossRoutes,
  retryRoutes,
  replayRoutes,
  deliveryRoutes,
  channelRoutes,
  deviceRoutes,
  ruleRoutes,
  alertHistoryRoutes,
  muteRoutes,
  digestRoutes,
  widgetRoutes,
  widgetFileRoutes,
  settingsRoutes,
  systemRoutes,
  probeRoutes,
  monitoringRoutes,
] as const

type RouteFactory = (typeof ROUTE_FACTORIES)[number]
type IntersectionOf<T> = (T extends unknown ? (value: T) => void : never) extends (value: infer All) => void
  ? All
  : never

/** The dependencies of all endpoints. */
type ApiDeps = IntersectionOf<Parameters<RouteFactory>[0]>

export const apiRoutes = (deps: ApiDeps): Route[] =>
  (ROUTE_FACTORIES as readonly ((deps: ApiDeps) => Route[])[]).flatMap((createRoutes) => createRoutes(deps))
