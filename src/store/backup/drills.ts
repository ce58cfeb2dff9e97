/** Records when a backup of this instance was last restored into another folder, as a drill. */
import { openSetting } from '../setting.ts'
import type { Store } from '../store.ts'

/** A drill. `at` is when the restore ended, in milliseconds since the epoch; `file` is the restored backup. */
type Drill = { at: number; file: string }

export function openDrillLog(store: Pick<Store, 'prepare'>) {
  const setting = openSetting(store, 'drill')
  const isOwn = store.prepare<[string], unknown>('select 1 from organizations where id = ?')

  /** The last drill; null if none is recorded. */
  const last = (): Drill | null => JSON.parse(setting.get() ?? 'null')

  /**
   * Records a drill, if one of the restored organizations belongs to this instance. Returns whether it does. Call it
   * inside a unit of work.
   */
  function note(drill: Drill, organization_ids: readonly string[]): boolean {
    const isThisInstance = organization_ids.some((id) => isOwn.get(id) !== undefined)
    if (isThisInstance) setting.set(JSON.stringify(drill))
    return isThisInstance
  }

  return { last, note }
}
