/** The record of a schema that was compared: it spares later starts the comparison, and hides no change. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { schema } from '../../../src/store/schema/schema.ts'
import { openStore } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../folders.ts'

const newFile = (): string => join(temporaryFolder().path, 'windfall.db')

/** A file whose schema has the same structure in other SQL, as an upgrade leaves it. */
function differentlyWritten(): string {
  const file = newFile()
  change(file, schema.replaceAll(' -- kept', ''))
  return file
}

function change(file: string, sql: string): void {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}

async function recordAfterOpening(file: string): Promise<unknown> {
  await openStore(file).close()
  const db = new Database(file)
  const record = db.prepare("select value from settings where key = 'checked_schema'").pluck().get()
  db.close()
  return record
}

test('a new file needs no record', async () => {
  const file = newFile()
  expect(await recordAfterOpening(file)).toBeUndefined()
  expect(await recordAfterOpening(file)).toBeUndefined()
})

test('a file in other SQL is recorded once', async () => {
  const file = differentlyWritten()
  const record = await recordAfterOpening(file)
  expect(record).toMatch(/^[0-9a-f]{64}$/)
  change(file, "update settings set value = value || '-kept' where key = 'checked_schema'")
  expect(await recordAfterOpening(file)).toBe(record)
  expect(await recordAfterOpening(file)).toBe(record)
})

test('a change by hand is found in spite of the record', async () => {
  const file = differentlyWritten()
  await recordAfterOpening(file)
  change(file, 'alter table users add column mine text')
  expect(() => openStore(file)).toThrow('column users.mine is unexpected. It was altered by hand')
})
