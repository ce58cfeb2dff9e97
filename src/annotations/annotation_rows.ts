/** The statements of the table `annotations`. */
import type { Store } from '../store/store.ts'
import type { Annotation } from './annotation.ts'

type AnnotationRow = Annotation & { source_key: string | null; deleted_at: number | null }
type Written = Pick<AnnotationRow, 'id' | 'app_id' | 'annotated_on' | 'text' | 'updated_at'>

/** Prepares the statements. */
export function openAnnotationRows(store: Store) {
  const columns = 'id, organization_id, app_id, annotated_on, text, source, created_at, updated_at'
  return {
    insert: store.prepare<AnnotationRow>(`
      insert into annotations ( id,  organization_id,  app_id,  annotated_on,  text,  source,  source_key,  created_at,  updated_at,  deleted_at)
      values                  (:id, :organization_id, :app_id, :annotated_on, :text, :source, :source_key, :created_at, :updated_at, :deleted_at)`),
    update: store.prepare<Written>(`
      update annotations set app_id = :app_id, annotated_on = :annotated_on, text = :text, updated_at = :updated_at
      where id = :id`),
    byId: store.prepare<[string], Annotation>(
      `select ${columns} from annotations where id = ? and deleted_at is null`,
    ),
    bySource: store.prepare<[string, string], AnnotationRow>(
      'select * from annotations where app_id = ? and source_key = ?',
    ),
    keysOf: store
      .prepare<[string], string>(
        'select source_key from annotations where app_id = ? and source_key is not null',
      )
      .pluck(),
    hide: store.prepare<[number, string]>('update annotations set deleted_at = ? where id = ?'),
    remove: store.prepare<[string]>('delete from annotations where id = ?'),
    removeUnlisted: store.prepare<[string, string, string]>(`
      delete from annotations where app_id = ? and source = 'price' and annotated_on > ? and deleted_at is null
        and created_at = updated_at and source_key not in (select value from json_each(?))`),
    countWritten: store
      .prepare<[string], number>(
        `select count(*) from annotations where organization_id = ? and source in ('owner', 'token')`,
      )
      .pluck(),
    page: store.prepare<Record<string, string | number | null>, Annotation>(`
      select ${columns} from annotations
      where deleted_at is null
        and (app_id in (select value from json_each(:apps))
          or (app_id is null and organization_id in (select value from json_each(:organizations))))
        and (:from is null or annotated_on >= :from) and (:to is null or annotated_on <= :to)
        and (:before is null or annotated_on || ' ' || id < :before)
      order by annotated_on desc, id desc limit :limit`),
  }
}
