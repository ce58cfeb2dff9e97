/** What the settings ask the server for, once for all sections. */
import type { InferOutput } from 'valibot'
import type { SettingsAnswer } from '../../../api/owner/settings.ts'
import type { HealthAnswer } from '../../../api/status_answers.ts'
import { type Asked, useAnswer } from '../answers.ts'

export type Known = InferOutput<typeof SettingsAnswer>
export type Organization = Known['organizations'][number]
export type Health = InferOutput<typeof HealthAnswer>
export type AppHealth = Health['apps'][number]

/** The owner’s alone. */
export const useKnown = (wait = false): Asked<Known> => useAnswer<Known>('/api/v1/settings', {}, { wait })
export const useHealth = (): Asked<Health> => useAnswer<Health>('/api/v1/apps/health', {}, { every: 30_000 })

/** What an organization is called, where there are several. */
export const organizationName = (known: Known | undefined, id: string | null): string =>
  known?.organizations.find((one) => one.id === id)?.name ?? id ?? 'All organizations'
