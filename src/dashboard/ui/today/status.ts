/** What the server says of its own condition. */
import { type Asked, useAnswer } from '../answers.ts'

export type StatusLevel = 'ok' | 'notice' | 'warning' | 'error'
export type StatusRow = {
  id: string
  level: StatusLevel
  title: string
  detail: string | null
  action: { label: string; command?: string; href?: string } | null
  since: number | null
  app_id: string | null
  progress: { done: number; of: number } | null
}
export type Status = { level: StatusLevel; checked_at: number; rows: StatusRow[] }

export const useStatus = (wait = false): Asked<Status> =>
  useAnswer<Status>('/api/v1/status', {}, { every: 30_000, wait })
