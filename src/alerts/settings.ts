/** The alert settings of an organization: its quiet hours, when digests are made, and until when alerts are muted. */
import * as v from 'valibot'
import type { Organizations } from '../apps/organizations.ts'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'
import { QuietHoursSetting, wallTime } from './rules/templates.ts'

/** What was changed. */
const Changed = v.object({
  quiet: v.exactOptional(v.nullable(QuietHoursSetting)),
  muted_until: v.exactOptional(v.nullable(v.number())),
  digests_at: v.exactOptional(wallTime),
})
/**
 * `quiet`: wall times in the time zone of the organization, null for none. `muted_until`: ms since the epoch. `digests_at`:
 * the wall time of digests.
 */
type AlertSettings = Required<v.InferOutput<typeof Changed>>

const QUIET = { from: '22:00', until: '08:00' }

export type AlertSettingsStore = ReturnType<typeof openAlertSettings>

/** Opens the settings. */
export function openAlertSettings(store: Pick<Store, 'prepare'>, organizations: Pick<Organizations, 'get'>) {
  const settingOf = (organization_id: string) => openSetting(store, `alerts/${organization_id}`)

  function changesOf(organization_id: string): Partial<AlertSettings> {
    const stored = settingOf(organization_id).get()
    return stored === null ? {} : v.parse(Changed, JSON.parse(stored))
  }

  /** The settings. Quiet hours are off until a time zone was chosen: those of another zone would hide the day. */
  function get(organization_id: string): AlertSettings {
    const isZoneKnown = (organizations.get(organization_id)?.time_zone_source ?? 'none') !== 'none'
    const quiet = isZoneKnown ? QUIET : null
    return { quiet, muted_until: null, digests_at: '08:00', ...changesOf(organization_id) }
  }

  /** Changes settings. Must run inside a unit of work. */
  const change = (organization_id: string, changes: Partial<AlertSettings>): void =>
    settingOf(organization_id).set(JSON.stringify({ ...changesOf(organization_id), ...changes }))

  return { get, change }
}
