/** The command `windfall init`: writes an initial config.toml. */
import { chmodSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand } from 'citty'
import * as v from 'valibot'
import { commentedConfig } from '../config/documents.ts'
import { codeOf, reasonOf } from '../config/sources/files.ts'
import { bundleId } from '../config/values.ts'
import { Refusal } from '../errors.ts'
import { commandName } from '../program/form.ts'
import { print, setResult } from './instance/output.ts'

/**
 * Writes a commented config file that only its owner can read.
 *
 * @param options.force overwrites an existing file
 * @returns the absolute path of the file
 * @throws Refusal 409 `exists` if the file exists; 400 if the bundle id is invalid or the file cannot be written
 */
function writeConfig(options: {
  path: string
  bundle?: string | undefined
  force?: boolean
  cwd: string
}): string {
  const file = resolve(options.cwd, options.path)
  if (options.bundle !== undefined && !v.is(bundleId, options.bundle)) {
    throw new Refusal(
      400,
      'invalid_request',
      `${options.bundle} is not a bundle id; use the form com.example.app`,
    )
  }
  try {
    writeFileSync(file, commentedConfig(options.bundle), { mode: 0o600, flag: options.force ? 'w' : 'wx' })
    // The mode above applies to a new file only.
    chmodSync(file, 0o600)
  } catch (error) {
    throw refusalFor(file, error)
  }
  return file
}

function refusalFor(file: string, error: unknown): Refusal {
  const code = codeOf(error)
  if (code === 'EEXIST')
    return new Refusal(409, 'exists', `${file} already exists; use --force to overwrite it`)
  if (code === 'ENOENT')
    return new Refusal(400, 'no_folder', `${file} cannot be written: its folder does not exist`)
  return new Refusal(400, 'not_writable', `${file} ${reasonOf(error)}`)
}

export const initCommand = defineCommand({
  meta: { name: 'init', description: 'Write a config file with every setting commented out at its default' },
  args: {
    path: { type: 'string', valueHint: 'FILE', default: 'config.toml', description: 'Where to write it' },
    bundle: { type: 'string', valueHint: 'BUNDLE_ID', description: 'An app to declare in the file' },
    force: { type: 'boolean', default: false, description: 'Overwrite an existing file' },
  },
  run({ args }) {
    const { path, bundle, force } = args
    const file = writeConfig({ path, bundle, force, cwd: process.cwd() })
    setResult({ file })
    print(`Wrote ${file}. To validate it after a change: ${commandName} check`)
  },
})
