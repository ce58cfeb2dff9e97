/** The control verbs that copy the database. The server runs them; if no server runs, the command does so itself. */
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

/** The verbs `backup`, and `database.copy`, which writes a verified copy of the database alone. */
export const backupVerbs = ({ backup, copy }: Pick<Backups, 'backup' | 'copy'>): Verbs => ({
  backup: verb(BackupArguments, ({ destination, lock: encryption }) =>
    backup(resolve(destination), encryption),
  ),
  'database.copy': verb(v.object({ destination: text }), ({ destination }) => copy(resolve(destination))),
})
