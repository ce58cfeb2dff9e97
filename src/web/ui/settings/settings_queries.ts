/** Queries that the settings sections share. */
import type { InferOutput } from 'valibot'
import type { SettingsAnswer } from '../../../api/owner/settings.ts'
import type { HealthAnswer } from '../../../api/status_answers.ts'
import { type QueryResult, useQuery } from '../queries.ts'

export type SettingsData = InferOutput<typeof SettingsAnswer>
export type Organization = SettingsData['organizations'][number]
export type Health = InferOutput<typeof HealthAnswer>
export type AppHealth = Health['apps'][number]

/** Queries the settings. Owner only. */
export const useSettings = (wait = false): QueryResult<SettingsData> =>
  useQuery<SettingsData>('/api/v1/settings', {}, { wait })
export const useHealth = (): QueryResult<Health> =>
  useQuery<Health>('/api/v1/apps/health', {}, { interval_ms: 30_000 })

/** The display name of an organization. */
export const organizationName = (settings: SettingsData | undefined, id: string | null): string =>
  settings?.organizations.find((one) => one.id === id)?.name ?? id ?? 'All organizations'
