/** What the audit log calls what was done, in words. */
import type { AuditAction } from '../../../../access/audit.ts'

const AUDIT_LABELS: Record<AuditAction, string> = {
  'owner.set_up': 'Chose the password',
  'owner.reset': 'Reset the password',
  'owner.signed_in': 'Signed in',
  'owner.sign_in_failed': 'Could not sign in',
  'owner.confirmed': 'Gave the password again',
  'owner.password_changed': 'Changed the password',
  'owner.signed_out': 'Signed out',
  'session.ended': 'Signed a browser out',
  'sessions.ended': 'Signed other browsers out',
  'link.made': 'Made a share link',
  'link.opened': 'Opened a share link',
  'link.refused': 'Could not open a share link',
  'link.revoked': 'Revoked a share link',
  'token.made': 'Made a token',
  'token.revoked': 'Revoked a token',
  'key.made': 'Made a key',
  'key.revoked': 'Revoked a key',
  'key.rotated': 'Replaced a key',
  'users.pruned': 'Pruned users',
  'user.forgotten': 'Had a user forgotten',
  'user.forgetting_undone': 'Took the forgetting of a user back',
  'configuration.read': 'Read the configuration',
  'app.connected': 'Connected an app',
  'test.asked': 'Asked for a test notification',
  'move.undone': 'Gave a purchase back',
  'secret.shown': 'Looked at a secret',
  export: 'Took a table along',
}

/** A deed in words; one of a newer server by its own name. */
export const auditLabel = (action: string): string =>
  (AUDIT_LABELS as Record<string, string>)[action] ?? action
