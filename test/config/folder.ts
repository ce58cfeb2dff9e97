/** A folder of a test's own, gone with the file's tests, from which a configuration is read as a person's would be. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError, issueLine } from '../../src/config/checks/issues.ts'
import { loadConfig } from '../../src/config/load.ts'
import { temporaryFolder } from '../folders.ts'

export function openFolder() {
  const { path } = temporaryFolder()

  function write(name: string, text: string | Uint8Array, mode = 0o600): string {
    const file = join(path, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
    return file
  }

  const load = (env: NodeJS.ProcessEnv = {}, config?: string) => loadConfig({ path: config, env, cwd: path })

  /** Every complaint on a line of its own, as a person sees them; empty when there are none. */
  function issues(env: NodeJS.ProcessEnv = {}, config?: string): string[] {
    try {
      load(env, config)
      return []
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return error.issues.map(issueLine)
    }
  }

  return { path, write, load, issues }
}

/** What is configured by this config.toml. */
export function configured(toml: string, env: NodeJS.ProcessEnv = {}) {
  const folder = openFolder()
  folder.write('config.toml', toml)
  return folder.load(env)
}

/** What is complained of in this config.toml. */
export function complaintsOf(toml: string, env: NodeJS.ProcessEnv = {}): string[] {
  const folder = openFolder()
  folder.write('config.toml', toml)
  return folder.issues(env)
}
