/** Synthetic versions of a database for tests of upgrades: a small first release and three later steps. */
import Database from 'better-sqlite3'
import { applicationId, type Step, type Versions } from '../../../src/store/schema/schema.ts'
import { rebuildTable } from '../../../src/store/schema/table_rebuild.ts'

const FIRST = `
  pragma application_id = ${applicationId};
  pragma user_version = 7;
  create table settings (key text primary key, value text not null) strict, without rowid;
  create table owners (id text primary key) strict;
  create table notes (
    id integer primary key autoincrement,
    owner_id text not null references owners (id),
    body text not null
  ) strict;
  create index notes_by_owner on notes (owner_id);
  create table log (id integer primary key, line text not null) strict;
  create trigger log_stands before update on log begin select raise(abort, 'the log is only added to'); end;`

/** The schema after all steps, with comments, another column order and other spellings. */
const PRESENT = `
  pragma application_id = ${applicationId};
  pragma user_version = 10;
  create table settings (key text primary key, value text not null) strict, without rowid;
  create table owners (id text primary key) strict;
  -- A comment is no difference.
  CREATE TABLE notes (
    id integer primary key autoincrement,
    plan text not null default 'free',
    owner_id text not null references owners (id),
    body text not null check (length(body) > 0) -- nor is this one
  ) strict;
  create index notes_by_owner on "notes" (owner_id);
  create table log (id integer primary key, line text not null) strict;
  create trigger log_stands before update on log
  begin select raise(abort, 'the log is only added to'); end;
  create table tags (note_id integer not null references notes (id), tag text not null, primary key (note_id, tag)) strict;
  create index urgent_tags on tags (note_id) where tag = 'urgent';`

export const STEPS: readonly Step[] = [
  { version: 8, up: (db) => void db.exec("alter table notes add column plan text not null default 'free'") },
  {
    version: 9,
    up: (db) =>
      void db.exec(`
        create table tags (note_id integer not null references notes (id), tag text not null, primary key (note_id, tag)) strict;
        create index urgent_tags on tags (note_id) where tag = 'urgent'`),
  },
  {
    version: 10,
    up: (db) =>
      rebuildTable(db, {
        table: 'notes',
        create: `
          create table new_notes (
            id integer primary key autoincrement,
            owner_id text not null references owners (id),
            body text not null check (length(body) > 0),
            plan text not null default 'free'
          ) strict`,
        values: { body: "iif(body = '', '(empty)', body)" },
      }),
  },
]

export const VERSIONS: Versions = { first: FIRST, steps: STEPS, schema: PRESENT }

/** Writes a file of the first version with rows, as a release leaves it: in WAL mode and closed. */
export function writeFirst(file: string, notes = 50): void {
  const db = new Database(file)
  db.pragma('journal_mode = wal')
  db.exec(FIRST)
  db.exec("insert into owners (id) values ('o1'); insert into log (line) values ('begun')")
  const insert = db.prepare("insert into notes (owner_id, body) values ('o1', ?)")
  for (let n = 0; n < notes; n += 1) insert.run(n === 0 ? '' : `note ${n}`)
  // The last number was used and must not be used again.
  insert.run('gone')
  db.exec("delete from notes where body = 'gone'")
  db.close()
}
