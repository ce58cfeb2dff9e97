/** Builds the event `import.finished`. */
import type { NewEvent } from '../../events/feed.ts'
import { newId } from '../../ids.ts'
import { type ImportCounts, spanOf } from './import_stats.ts'
import type { ReportDay } from './received.ts'

type FinishedImport = {
  organization_id: string
  tally: ImportCounts
  plan: readonly ReportDay[]
  isFirst: boolean
}

/** The event of an organization's import that ended at `at` (milliseconds). The first import is of the past. */
export const finishedEvent = (
  { organization_id, tally, plan, isFirst }: FinishedImport,
  at: number,
): NewEvent => ({
  organization_id,
  app_id: null,
  environment: null,
  type: 'import.finished',
  origin: isFirst ? 'backfill' : 'live',
  customer_id: null,
  subject: null,
  cause: newId('imp'),
  occurred_at: at,
  signed_at: null,
  data: () => ({ ...tally, ...spanOf(plan) }),
})
