/** The append-only audit log: who did what, or tried to, and when. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

/**
 * Who acted, and from which address: `owner`, `command line`, `housekeeping`, the id of a token, link, key or
 * device, or `anonymous` for an unknown caller.
 */
export type AuditActor = { actor: string; address: string | null }

export const COMMAND_LINE: AuditActor = { actor: 'command line', address: null }

/** The actions in the log. */
export type AuditAction =
  | 'owner.set_up'
  | 'owner.reset'
  | 'owner.signed_in'
  | 'owner.sign_in_failed'
  | 'owner.confirmed'
  | 'owner.password_changed'
  | 'owner.signed_out'
  | 'second_factor.turned_on'
  | 'second_factor.turned_off'
  | 'recovery_codes.made'
  | 'passkey.added'
  | 'passkey.removed'
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
  | 'first_steps.dismissed'
  | 'backup.started'
  | 'apple_key.stored'
  | 'apple_key.removed'
  | 'apple_vendors.stored'
  | 'move.undone'
  | 'test.asked'
  | 'secret.shown'
  | 'users.pruned'
  | 'device.revoked'
  | 'attested_only.begun'
  | 'attested_only.ended'
  | 'links.imported'
  | 'user.forgotten'
  | 'user.forgetting_undone'
  | 'endpoint.made'
  | 'endpoint.changed'
  | 'endpoint.paused'
  | 'endpoint.resumed'
  | 'endpoint.rotated'
  | 'endpoint.deleted'
  | 'endpoint.tested'
  | 'endpoint.losses_dismissed'
  | 'endpoint.retried'
  | 'delivery.retried'
  | 'replay.started'
  | 'replay.stopped'
  | 'outgoing.resumed'
  | 'outgoing.key_replaced'
  | 'channel.made'
  | 'channel.changed'
  | 'channel.removed'
  | 'channel.tested'
  | 'device.added'
  | 'device.renewed'
  | 'widget.made'
  | 'widget.removed'
  | 'rule.made'
  | 'rule.changed'
  | 'rule.removed'
  | 'alerts.changed'
  | 'organization.changed'
  | 'annotation.made'
  | 'annotation.changed'
  | 'annotation.removed'
  | 'configuration.read'
  | 'export'

/** `subject` is the id or name of the object, `detail` a short text. Neither is ever a secret. */
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

/** Opens the audit log. */
export function openAudit(store: Store, clock: Clock) {
  const insert = store.prepare<Omit<AuditRow, 'id'>>(`
    insert into audit_log ( at,  actor,  address,  action,  subject,  detail)
    values                (:at, :actor, :address, :action, :subject, :detail)`)
  const selectBefore = store.prepare<[number, number], AuditRow>(
    'select * from audit_log where id < ? order by id desc limit ?',
  )

  /** Adds an entry. Call it inside the action's unit of work, so that both or neither are stored. */
  function note({ subject = null, detail = null, ...entry }: AuditEntry): void {
    insert.run({ ...entry, at: clock(), subject, detail })
  }

  /** Adds an entry for an action that writes nothing else. Ignores failures: a full disk must not prevent reads. */
  function noteInBackground(entry: AuditEntry): void {
    store.commit(() => note(entry)).catch(() => {})
  }

  /** At most `limit` entries with ids below `end`, newest first; from the newest entry if `end` is null. */
  const list = (end: number | null, limit: number): AuditRow[] =>
    selectBefore.all(end ?? Number.MAX_SAFE_INTEGER, limit)

  return { note, noteInBackground, list }
}
