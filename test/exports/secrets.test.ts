/** Exports contain all data but secrets. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EXPORT_TABLES } from '../../src/exports/tables/tables.ts'
import { nonEmpty } from '../non_empty.ts'
import { formsIn, openWithSecrets, SECRET_COLUMNS } from '../stored_secrets.ts'

test('no table and no SQLite file contains a key, a token, a sealed secret or a receiver of alerts', async () => {
  const { app, bearer, secrets } = await openWithSecrets()
  const get = async (path: string): Promise<string> => {
    const answer = await app.request(`/api/v1/exports${path}`, { headers: bearer })
    expect([path, answer.status]).toEqual([path, 200])
    return Buffer.from(await answer.arrayBuffer()).toString('latin1')
  }
  for (const { name } of nonEmpty(EXPORT_TABLES)) {
    expect([name, formsIn(await get(`/${name}?format=jsonl`), secrets)]).toEqual([name, []])
    expect([name, formsIn(await get(`/${name}?format=csv`), secrets)]).toEqual([name, []])
  }
  expect(formsIn(await get('.sqlite'), secrets)).toEqual([])
})

test('every column of the schema that holds a secret is searched for', () => {
  const schema = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')
  const known = new Set(SECRET_COLUMNS.map(([table, column]) => `${table}.${column}`))
  const found = [...schema.matchAll(/^create table (\w+) \(.*\n([\s\S]*?)\n\)/gm)].flatMap(
    ([, table, body = '']) =>
      [...body.matchAll(/^ {2}(\w+) +(?:text|blob)\b/gm)].map(([, column]) => `${table}.${column}`),
  )
  expect(found.length).toBeGreaterThan(300)
  const named = found.filter((one) =>
    /\.(\w+_)?(sealed|token|password|passcode|public_key|receipt|hash)$/.test(one),
  )
  expect(named.filter((one) => !known.has(one) && !NO_SECRETS.has(one))).toEqual([])
})

/** A token that names a user at Apple, and hashes of what is used up or erased. */
const NO_SECRETS = new Set([
  'transactions.app_account_token',
  'used_challenges.hash',
  'used_challenges.attestation_hash',
  'tombstones.hash',
])
