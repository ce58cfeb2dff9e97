/** The alert settings of an organization: its quiet hours, when digests are made, and until when alerts are muted. */
import * as v from 'valibot'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'
import { QuietHoursSetting, wallTime } from './rules/templates.ts'

const AlertSettings = v.object({
  quiet: v.nullable(QuietHoursSetting),
  muted_until: v.nullable(v.number()),
  digests_at: v.optional(wallTime, '08:00'),
})
/**
 * `quiet`: wall times in the time zone of the organization, null for none. `muted_until`: ms since the epoch. `digests_at`:
 * the wall time of digests.
 */
type AlertSettings = v.InferOutput<typeof AlertSettings>

const DEFAULT: AlertSettings = {
  quiet: { from: '22:00', until: '08:00' },
  muted_until: null,
  digests_at: '08:00',
}

export type AlertSettingsStore = ReturnType<typeof openAlertSettings>

/** Opens the settings. */
export function openAlertSettings(store: Pick<Store, 'prepare'>) {
  const settingOf = (organization_id: string) => openSetting(store, `alerts/${organization_id}`)

  function get(organization_id: string): AlertSettings {
    const stored = settingOf(organization_id).get()
    return stored === null ? DEFAULT : v.parse(AlertSettings, JSON.parse(stored))
  }

  /** Changes settings. Must run inside a unit of work. */
  const change = (organization_id: string, changes: Partial<AlertSettings>): void =>
    settingOf(organization_id).set(JSON.stringify({ ...get(organization_id), ...changes }))

  return { get, change }
}
