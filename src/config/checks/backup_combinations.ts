/** Checks the settings that copy backups to another machine. */

import type { RawConfig } from '../raw_config.ts'
import { isTable } from '../setting.ts'
import type { Path } from './issues.ts'

const COMMAND: Path = ['backup', 'command']
const TO: Path = ['backup', 'to']
const SECRET: Path = ['backup', 'secret_access_key']
const SET_RECIPIENTS = 'A backup contains your keys: set recipients.'

/** A backup contains keys, so that only an encrypted one may leave the machine. */
export function checkBackup(raw: RawConfig): void {
  const section = raw.get(['backup'])
  if (!isTable(section)) return
  const isEncrypted = listIn(section, 'recipients').length > 0
  checkCommand(raw, listIn(section, 'command'), isEncrypted)
  if (section.to !== undefined) checkUpload(raw, section, isEncrypted)
  if (raw.has(SECRET) && raw.originOf(SECRET).isShared === true)
    raw.addIssue(
      SECRET,
      'is in a file that other users of the machine can read',
      'Put the secret into a file of its own, chmod 600, and write its path as secret_access_key_file.',
    )
}

function checkCommand(raw: RawConfig, command: readonly unknown[], isEncrypted: boolean): void {
  if (command.length === 0) return
  if (!command.some((word) => String(word).includes('{file}')))
    raw.addIssue(COMMAND, 'does not name the backup', 'Write {file} where the program takes its path.')
  else if (!isEncrypted) raw.addIssue(COMMAND, 'would copy backups that are not encrypted', SET_RECIPIENTS)
}

function checkUpload(raw: RawConfig, section: Record<string, unknown>, isEncrypted: boolean): void {
  const missing = [
    ['access_key_id', 'Write the id of a key for the bucket.'],
    ['secret_access_key', 'Write the path of a file with the secret as secret_access_key_file.'],
  ].find(([key = '']) => section[key] === undefined)
  if (!isEncrypted) raw.addIssue(TO, 'would upload backups that are not encrypted', SET_RECIPIENTS)
  else if (listIn(section, 'command').length > 0)
    raw.addIssue(TO, 'is set together with command', 'Keep one of the two.')
  else if (missing !== undefined) raw.addIssue(TO, `is set without ${missing[0]}`, missing[1] ?? '')
}

function listIn(section: Record<string, unknown>, key: string): unknown[] {
  const value = section[key]
  return Array.isArray(value) ? value : []
}
