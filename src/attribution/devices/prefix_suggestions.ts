/**
 * App ID prefixes that refused attestations named. They are suggestions for the owner to confirm, because nothing proves
 * that the caller’s app is the one in the App Store. They are in memory only: a refused attestation changes no row.
 */
import type { App } from '../../apps/apps.ts'

const PREFIX = /^[A-Z0-9]{10}$/

export type PrefixSuggestions = ReturnType<typeof openPrefixSuggestions>

/** Opens the suggestions, one for each app. */
export function openPrefixSuggestions() {
  const prefixes = new Map<string, string>()

  /** Notes the prefix in the id of an app, if the id ends with the app's bundle id and has another prefix than the app. */
  function note(app: App, app_identifier: string | null): void {
    const [prefix, ...rest] = app_identifier?.split('.') ?? []
    if (prefix === undefined || !PREFIX.test(prefix) || rest.join('.') !== app.bundle_id) return
    if (prefix !== app.team_id) prefixes.set(app.id, prefix)
  }

  /** The prefix of the newest refused attestation of an app; null if there was none. */
  const of = (app_id: string): string | null => prefixes.get(app_id) ?? null

  /** Drops the suggestion for an app whose prefix proved to be right. */
  const clear = (app_id: string): void => void prefixes.delete(app_id)

  return { note, of, clear }
}
