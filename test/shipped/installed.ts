/** The files of a server that runs as `windfall install` leaves it: its config.toml, its data and the environment of its unit. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstConfig } from '../../src/cli/install/first_config.ts'
import { layoutAt } from '../../src/cli/install/layout.ts'
import { parseUnit, UNIT } from '../../src/systemd/unit.ts'

/** What systemd sets for each service of the system (systemd.exec(5)). */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export type Installed = ReturnType<typeof openInstalled>

/** Makes the folders and the first config.toml below `root`. */
export function openInstalled(root: string) {
  const { config, configFolder, data, addons } = layoutAt(root)
  const temporary = join(root, 'tmp')
  for (const folder of [configFolder, data, addons, temporary])
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(config, firstConfig(data), { mode: 0o600 })

  /** Changes a setting that has a commented line, as an owner does. `value` is TOML. */
  function set(section: string, key: string, value: string): void {
    const lines = readFileSync(config, 'utf8').split('\n')
    const head = section === '' ? 0 : lines.indexOf(`[${section}]`)
    const at = lines.findIndex((line, index) => index >= head && new RegExp(`^#?${key} = `).test(line))
    if (head < 0 || at < 0) throw new Error(`config.toml has no ${section}.${key}`)
    writeFileSync(config, lines.with(at, `${key} = ${value}`).join('\n'))
  }

  /** Replaces each occurrence of a text. */
  function replace(from: string, to: string): void {
    const text = readFileSync(config, 'utf8')
    if (!text.includes(from)) throw new Error(`config.toml does not contain ${from}`)
    writeFileSync(config, text.replaceAll(from, to))
  }

  /** Adds tables at the end. */
  const add = (toml: string): void => writeFileSync(config, `${readFileSync(config, 'utf8')}\n${toml}\n`)

  /** Adds a file beside config.toml that only the owner reads, and returns its path. */
  function addFile(name: string, text: string): string {
    const file = join(configFolder, name)
    writeFileSync(file, text)
    chmodSync(file, 0o600)
    return file
  }

  const unit = parseUnit('', UNIT)
  if (unit.config === null) throw new Error('the unit names no config file')
  /** The environment of the unit, with its paths below `root`. */
  const env = { PATH, WINDFALL_CONFIG: join(root, unit.config), TMPDIR: temporary }

  return {
    config,
    data,
    database: join(data, 'windfall.db'),
    env,
    set,
    replace,
    add,
    addFile,
    hasDatabase: () => existsSync(join(data, 'windfall.db')),
  }
}
