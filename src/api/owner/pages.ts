/** What may be asked: what the pages of the dashboard need beside the figures: today, customers, events, settings. */
import type { Route } from '../http/route.ts'
import { type EvidenceDeps, evidenceRoutes } from './evidence.ts'
import { type GapDeps, gapRoutes } from './gaps.ts'
import { type KeyDeps, keyRoutes } from './keys.ts'
import { type MoveDeps, moveRoutes } from './moves.ts'
import { type PendingDeps, pendingRoutes } from './pending.ts'
import { type SettingsDeps, settingsRoutes } from './settings.ts'
import { type StatusDeps, statusRoutes } from './status/status.ts'
import { type TestDeps, testRoutes } from './test_notification.ts'
import { type TodayDeps, todayRoutes } from './today.ts'

type PageDeps = TodayDeps &
  GapDeps &
  EvidenceDeps &
  StatusDeps &
  KeyDeps &
  PendingDeps &
  MoveDeps &
  TestDeps &
  SettingsDeps

export const pageRoutes = (deps: PageDeps): Route[] => [
  ...todayRoutes(deps),
  ...gapRoutes(deps),
  ...evidenceRoutes(deps),
  ...statusRoutes(deps),
  ...keyRoutes(deps),
  ...pendingRoutes(deps),
  ...moveRoutes(deps),
  ...testRoutes(deps),
  ...settingsRoutes(deps),
]
