/** Labels of audit actions. */
import type { AuditAction } from '../../../../access/audit.ts'

const AUDIT_LABELS: Record<AuditAction, string> = {
  'owner.set_up': 'Set the password',
  'owner.reset': 'Reset the password',
  'owner.signed_in': 'Signed in',
  'owner.sign_in_failed': 'Failed to sign in',
  'owner.confirmed': 'Confirmed the password',
  'owner.password_changed': 'Changed the password',
  'owner.signed_out': 'Signed out',
  'session.ended': 'Signed a browser out',
  'sessions.ended': 'Signed other browsers out',
  'link.made': 'Created a share link',
  'link.opened': 'Opened a share link',
  'link.refused': 'Failed to open a share link',
  'link.revoked': 'Revoked a share link',
  'token.made': 'Created a token',
  'token.revoked': 'Revoked a token',
  'key.made': 'Created a key',
  'key.revoked': 'Revoked a key',
  'key.rotated': 'Replaced a key',
  'users.pruned': 'Pruned users',
  'links.imported': 'Imported links',
  'user.forgotten': 'Erased a user',
  'user.forgetting_undone': 'Reversed the erasure of a user',
  'endpoint.made': 'Created a webhook',
  'endpoint.changed': 'Changed a webhook',
  'endpoint.paused': 'Paused a webhook',
  'endpoint.resumed': 'Resumed a webhook',
  'endpoint.rotated': 'Rotated the secret of a webhook',
  'endpoint.deleted': 'Deleted a webhook',
  'endpoint.tested': 'Sent a test event',
  'replay.started': 'Started a replay',
  'replay.stopped': 'Stopped a replay',
  'outgoing.resumed': 'Resumed outgoing requests',
  'outgoing.key_replaced': 'Replaced the sealing key',
  'configuration.read': 'Read the configuration',
  'app.connected': 'Connected an app',
  'test.asked': 'Requested a test notification',
  'move.undone': 'Undid the move of a purchase',
  'secret.shown': 'Viewed a secret',
  export: 'Exported a table',
}

/** The label of an audit action. An unknown action, as from a newer server, is its own label. */
export const auditLabel = (action: string): string =>
  (AUDIT_LABELS as Record<string, string>)[action] ?? action
