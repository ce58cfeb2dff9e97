/** What we remember: who did what, or tried to: the log that is only ever added to. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

/** Who does something: `owner`, `command line`, `housekeeping`, the id of a token, link or key, or `somebody`; and from where. */
export type AuditActor = { actor: string; address: string | null }

export const COMMAND_LINE: AuditActor = { actor: 'command line', address: null }

/** What is written down. */
export type AuditAction =
  | 'owner.set_up'
  | 'owner.reset'
  | 'owner.signed_in'
  | 'owner.sign_in_failed'
  | 'owner.confirmed'
  | 'owner.password_changed'
  | 'owner.signed_out'
  | 'session.ended'
  | 'sessions.ended'
  | 'link.made'
  | 'link.opened'
  | 'link.refused'
  | 'link.revoked'
  | 'token.made'
  | 'token.revoked'
  | 'key.made'
  | 'key.revoked'
  | 'key.rotated'
  | 'app.connected'
  | 'move.undone'
  | 'test.asked'
  | 'secret.shown'
  | 'users.pruned'
  | 'user.forgotten'
  | 'user.forgetting_undone'
  | 'configuration.read'
  | 'export'

/** `subject` is the id or name of what it was done to, `detail` a few words; never a secret. */
type AuditEntry = AuditActor & { action: AuditAction; subject?: string | null; detail?: string | null }
type AuditRow = {
  id: number
  at: number
  actor: string
  address: string | null
  action: string
  subject: string | null
  detail: string | null
}

export type Audit = ReturnType<typeof openAudit>

export function openAudit(store: Store, clock: Clock) {
  const insert = store.prepare<Omit<AuditRow, 'id'>>(`
    insert into audit_log ( at,  actor,  address,  action,  subject,  detail)
    values                (:at, :actor, :address, :action, :subject, :detail)`)
  const before = store.prepare<[number, number], AuditRow>(
    'select * from audit_log where id < ? order by id desc limit ?',
  )

  /** Writes down a deed. Inside the unit of work that does it, so that neither is there without the other. */
  function note({ subject = null, detail = null, ...entry }: AuditEntry): void {
    insert.run({ ...entry, at: clock(), subject, detail })
  }

  /** The same for what changes nothing else. A full disk must not stop anybody from reading, so this may fail. */
  function noteInBackground(entry: AuditEntry): void {
    store.commit(() => note(entry)).catch(() => {})
  }

  /** Newest first: `limit` of those before the id `end`. */
  const list = (end: number | null, limit: number): AuditRow[] =>
    before.all(end ?? Number.MAX_SAFE_INTEGER, limit)

  return { note, noteInBackground, list }
}
