/** The control verb of `windfall backup`. The server runs it; if no server runs, the command runs it itself. */
import { resolve } from 'node:path'
import * as v from 'valibot'
import type { Backups } from '../store/backup/backup.ts'
import { type Verbs, verb } from './socket.ts'

const text = v.pipe(v.string(), v.nonEmpty())
const BackupArguments = v.object({
  destination: text,
  lock: v.nullable(
    v.union([
      v.object({ recipients: v.pipe(v.array(text), v.minLength(1)) }),
      v.object({ passphrase: text }),
    ]),
  ),
})

/** The verb `backup`. */
export const backupVerbs = ({ backup }: Pick<Backups, 'backup'>): Verbs => ({
  backup: verb(BackupArguments, ({ destination, lock: encryption }) =>
    backup(resolve(destination), encryption),
  ),
})
