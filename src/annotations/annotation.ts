/** The shape of an annotation. */

export const SOURCES = ['owner', 'token', 'version', 'price'] as const
export type Source = (typeof SOURCES)[number]

/** `app_id` is null for a note about all apps of the organization. `annotated_on` is a day, 'YYYY-MM-DD'. */
export type Annotation = {
  id: string
  organization_id: string
  app_id: string | null
  annotated_on: string
  text: string
  source: Source
  created_at: number
  updated_at: number
}
