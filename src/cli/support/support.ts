/** The command `windfall support`: writes one file with what a problem report needs, and without secrets. */
import { existsSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import { packTar } from 'modern-tar'
import { APPLE_HOSTS } from '../../apple/api/hosts.ts'
import { systemClock } from '../../clock.ts'
import type { CheckResult } from '../../doctor/result.ts'
import { Refusal } from '../../errors.ts'
import { diagnose } from '../doctor/diagnose.ts'
import { configArg, load } from '../instance/instance.ts'
import { print, printError, setResult } from '../instance/output.ts'
import { type BundleFile, collectBundle } from './bundle.ts'

export const supportCommand = defineCommand({
  meta: { name: 'support', description: 'Write a file for a problem report; it contains no secrets' },
  args: {
    file: {
      type: 'positional',
      required: false,
      description: 'The file to write; it must not exist (default: windfall-support-TIME.tar)',
    },
    ...configArg,
  },
  async run({ args }) {
    const created_at = systemClock()
    const destination = resolve(args.file ?? `windfall-support-${timeText(created_at)}.tar`)
    const loaded = load(args.config)
    // The file is opened first, because the checks drop root's rights to those of the owner of the database.
    const handle = await openNew(destination)
    printError('Running the checks …')
    const { files, bytes } = await writeBundle(handle, created_at, async () =>
      collectBundle({ loaded, results: await runChecks(args.config), created_at }),
    ).catch((error: unknown) => {
      rmSync(destination, { force: true })
      throw error
    })
    const contents = files.map(({ name, about }) => ({ name, about }))
    setResult({ file: destination, bytes, contents })
    print(`Wrote ${destination} (${bytes.toLocaleString('en-US')} bytes, readable only by you). It contains:`)
    for (const { name, about } of files) print(`  ${name.padEnd(20)}${about}`)
    print('Read it before you send it: tar -xf FILE, or tar -xOf FILE doctor.json')
    print(
      'Windfall keeps no log. Add the lines of your log around the problem, such as: journalctl -u windfall',
    )
  },
})

/** Test notifications are not requested, because a report must change nothing. */
async function runChecks(configPath: string | undefined): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  const checks = diagnose({
    loadOptions: { path: configPath, env: process.env, cwd: process.cwd() },
    isTestRequested: false,
    hosts: APPLE_HOSTS,
    clock: systemClock,
    wait: (ms) => setTimeout(ms),
  })
  for await (const result of checks) results.push(result)
  return results
}

/**
 * Creates the file with mode 0600.
 *
 * @throws Refusal 400 `no_folder`; 409 `file_exists`, because a bundle never overwrites a file; Error.
 */
function openNew(destination: string): Promise<FileHandle> {
  if (!existsSync(dirname(destination)))
    throw new Refusal(400, 'no_folder', `${destination} cannot be written: its folder does not exist`)
  if (existsSync(destination))
    throw new Refusal(409, 'file_exists', `${destination} exists; name another file`)
  return open(destination, 'wx', 0o600)
}

/** Writes the archive and closes the file. */
async function writeBundle(handle: FileHandle, created_at: number, collect: () => Promise<BundleFile[]>) {
  const mtime = new Date(created_at)
  try {
    const files = await collect()
    const entries = files.map(({ name, content }) => {
      const body = `${JSON.stringify(content, null, 2)}\n`
      return { header: { name, size: Buffer.byteLength(body), mode: 0o600, mtime }, body }
    })
    const archive = await packTar(entries)
    await handle.writeFile(archive)
    return { files, bytes: archive.length }
  } finally {
    await handle.close()
  }
}

/** An instant as `20260301-173000`, in UTC. */
const timeText = (at: number): string =>
  new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
