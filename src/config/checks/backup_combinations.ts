/** Checks the command that copies backups to another machine. */
import type { RawConfig } from '../raw_config.ts'
import type { Path } from './issues.ts'

const COMMAND: Path = ['backup', 'command']

/** A backup contains keys, so that only an encrypted one may leave the machine. */
export function checkBackupCommand(raw: RawConfig): void {
  const command = listAt(raw, COMMAND)
  if (command.length === 0) return
  if (!command.some((word) => String(word).includes('{file}')))
    raw.addIssue(COMMAND, 'does not name the backup', 'Write {file} where the program takes its path.')
  else if (listAt(raw, ['backup', 'recipients']).length === 0)
    raw.addIssue(
      COMMAND,
      'would copy backups that are not encrypted',
      'A backup contains your keys: set recipients.',
    )
}

function listAt(raw: RawConfig, path: Path): unknown[] {
  const value = raw.get(path)
  return Array.isArray(value) ? value : []
}
