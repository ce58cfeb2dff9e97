/** The connected apps, by id. */
import { type QueryResult, useQuery } from './queries.ts'

export type App = {
  id: string
  organization_id: string
  bundle_id: string
  name: string | null
  android_package?: string | null
  icon?: string | null
}

export const useApps = (): QueryResult<{ apps: App[] }> => useQuery<{ apps: App[] }>('/api/v1/apps')

/** The display name of an app by its id or bundle id: its name, else its bundle id. */
export const appName = (apps: readonly App[] | undefined, id: string | null): string => {
  const app = apps?.find((one) => one.id === id || one.bundle_id === id)
  return app?.name ?? app?.bundle_id ?? id ?? '–'
}
