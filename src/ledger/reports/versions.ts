/** Stores the version of each report that Apple returned last, because Apple retires versions without notice. */
import type { ReportKind } from '../../apple/api/connect.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'

type VersionKey = { organization_id: string; kind: ReportKind }
type ReportVersion = { kind: ReportKind; version: string; learned_at: number }

export type ReportVersions = ReturnType<typeof openReportVersions>

export function openReportVersions(store: Store, clock: Clock) {
  const find = store.prepare<[string, string], { version: string }>(
    'select version from report_versions where organization_id = ? and kind = ?',
  )
  const all = store.prepare<[string], ReportVersion>(
    'select kind, version, learned_at from report_versions where organization_id = ? order by kind',
  )
  const put = store.prepare<[string, string, string, number]>(
    'insert or replace into report_versions (organization_id, kind, version, learned_at) values (?, ?, ?, ?)',
  )

  /** The version to request; null when no version is known, and Apple chooses one. */
  const latest = ({ organization_id, kind }: VersionKey): string | null =>
    find.get(organization_id, kind)?.version ?? null

  /** Stores the version of Apple's answer. Call it inside a unit of work. */
  function learn({ organization_id, kind }: VersionKey, version: string): void {
    if (latest({ organization_id, kind }) !== version) put.run(organization_id, kind, version, clock())
  }

  return { latest, learn, list: (organization_id: string): ReportVersion[] => all.all(organization_id) }
}
