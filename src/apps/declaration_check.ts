/** A dry run of the declarations in config.toml, on a copy of the tables they change. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Log } from '../log.ts'
import type { Reader } from '../store/reader.ts'
import { openStore, type Store } from '../store/store.ts'
import { openApps } from './apps.ts'
import { openDeclarations } from './declarations.ts'
import { openKeys } from './keys.ts'
import { openOrganizations } from './organizations.ts'

/** The tables that declarations read and write, in the order of their references. */
const TABLES = ['organizations', 'sdk_keys', 'apps']

type Row = Record<string, unknown>
type DryRunDeps = { reader: Reader; clock: Clock; log: Log }

/**
 * Applies the declarations of `config` to a copy of the organizations, keys and apps that `reader` reads. Does not
 * change the database.
 *
 * @throws Refusal as the server does: 409 `key_in_use`, 409 `android_package_taken`.
 */
export async function dryRunDeclarations(config: Config, { reader, clock, log }: DryRunDeps): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'windfall-check-'))
  try {
    const store = openStore(join(folder, 'copy.db'))
    try {
      await store.commit(() => copyInto(store, reader))
      const [organizations, keys, apps] = [
        openOrganizations(store, clock),
        openKeys(store, clock),
        openApps(store, clock),
      ]
      await openDeclarations({ store, organizations, apps, keys, log }).declare(config)
    } finally {
      await store.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function copyInto(store: Store, reader: Reader): void {
  for (const table of TABLES) {
    for (const row of reader.prepare<[], Row>(`select * from ${table}`).all()) {
      const names = Object.keys(row)
      const placeholders = names.map((name) => `:${name}`)
      store.prepare<Row>(`insert into ${table} (${names.join()}) values (${placeholders.join()})`).run(row)
    }
  }
}
