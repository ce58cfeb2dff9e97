/** Queries that the settings sections share. */
import type { InferOutput } from 'valibot'
import type { SettingsAnswer } from '../../../api/owner/settings.ts'
import type { HealthAnswer } from '../../../api/status_answers.ts'
import { type QueryResult, useQuery } from '../queries.ts'

export type StatusData = InferOutput<typeof SettingsAnswer>
export type Organization = StatusData['organizations'][number]
export type Health = InferOutput<typeof HealthAnswer>
export type AppHealth = Health['apps'][number]

/** Owner only. */
export const useStatus = (wait = false): QueryResult<StatusData> =>
  useQuery<StatusData>('/api/v1/settings', {}, { wait })
export const useHealth = (): QueryResult<Health> =>
  useQuery<Health>('/api/v1/apps/health', {}, { every: 30_000 })

/** The display name of an organization. */
export const organizationName = (known: StatusData | undefined, id: string | null): string =>
  known?.organizations.find((one) => one.id === id)?.name ?? id ?? 'All organizations'
