/** Another program that reads a database and checkpoints its log, as Litestream does. */
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'

/** Opens the other program. It reads the database from now on, so that nothing else can empty the log. */
export function openOtherReader(file: string) {
  const reader = new Database(file, { readonly: true })
  const writer = new Database(file)
  writer.pragma('wal_autocheckpoint = 0')
  writer.exec('create table if not exists _litestream_seq (id integer primary key, seq integer)')
  onTestFinished(end)

  function read(): void {
    reader.exec('begin')
    reader.prepare('select count(*) from _litestream_seq').get()
  }

  /** Checkpoints the whole log and restarts it with a write. The read lock is not held during the checkpoint only. */
  function restartLog(): void {
    reader.exec('rollback')
    writer.pragma('wal_checkpoint(PASSIVE)')
    read()
    writer.exec('insert into _litestream_seq values (1, 1) on conflict (id) do update set seq = seq + 1')
  }

  /** Ends the program. A second call does nothing. */
  function end(): void {
    reader.close()
    writer.close()
  }

  read()
  return { restartLog, end }
}
