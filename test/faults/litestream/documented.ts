/** The configuration, the unit and the commands of docs/litestream.md, with the paths of a test. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstConfig } from '../../../src/cli/install/first_config.ts'
import { DATA_FOLDER } from '../../../src/cli/install/layout.ts'

const page = readFileSync(new URL('../../../docs/litestream.md', import.meta.url), 'utf8')

const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^ *\`\`\`${language}\n(.*?)^ *\`\`\`$`, 'gms'))].map(([, text = '']) => text)

/** The config file of `windfall install`, with the paths of `folder`. */
export const installedConfig = (folder: string): string => placedIn(folder, firstConfig(DATA_FOLDER))

/** Every path of the page that ends with the name of the database. */
export const databasePaths = (): string[] => page.match(/[\w/.-]*\/windfall\.db\b/g) ?? []

/** Replaces the documented paths by paths in `folder`. */
export function placedIn(folder: string, text: string): string {
  return text
    .replaceAll('/var/lib/windfall', folder)
    .replaceAll('/var/lib/litestream', join(folder, 'replicas'))
    .replaceAll('/etc/litestream.yml', join(folder, 'litestream.yml'))
    .replaceAll('/run/litestream', folder)
}

/** Writes the documented configuration into `folder`. */
export function writeConfig(folder: string, more = '') {
  const [text = ''] = blocks('yaml')
  const config = join(folder, 'litestream.yml')
  writeFileSync(config, placedIn(folder, text).replace('dbs:\n', `${more}dbs:\n`))
  return { config, socket: join(folder, 'litestream.sock'), database: join(folder, 'windfall.db') }
}

/** The documented systemd unit. */
export const unit = (): string => blocks('ini')[0] ?? ''

/** The documented commands as words, with the paths of `folder`: those of each block. */
export const commandsIn = (folder: string): string[][][] =>
  blocks('sh').map((block) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .trim()
      .split('\n')
      .map((line) => placedIn(folder, line.trim()).split(' ')),
  )
