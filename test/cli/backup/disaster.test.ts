/** A machine is lost, and a new one gets its backup: what the server of the new machine reads. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { commentedConfig } from '../../../src/config/documents.ts'
import { folderOf, run } from '../../processes.ts'

const OLD = '[[organizations]]\nslug = "kelp"\n\n[[apps]]\nbundle_id = "com.example.lantern"\n'
const CONNECTED = /^kelp \(org_\w+\)\n.*\n +com\.example\.lantern .* config\n$/

/** The backup of a lost machine with this config file. */
async function backupOf(config: string): Promise<string> {
  const cwd = folderOf({ 'config.toml': config })
  expect(await run(['apps', 'add', 'com.example.other'], { cwd })).toMatchObject({ status: 0 })
  expect(await run(['apps', 'remove', 'com.example.other'], { cwd })).toMatchObject({ status: 0 })
  expect(await run(['backup', 'backup.tar'], { cwd })).toMatchObject({ status: 0 })
  return join(cwd, 'backup.tar')
}

const textIn = (cwd: string, name: string): string => readFileSync(join(cwd, name), 'utf8')

test('a restore puts the old configuration in use where init wrote the present one', async () => {
  const backup = await backupOf(OLD)
  const cwd = folderOf()
  await run(['init'], { cwd })
  const restored = await run(['restore', backup], { cwd })
  expect(restored).toMatchObject({ status: 0 })
  expect(restored.stdout).toContain(
    `Restored ${cwd}/config.toml. The previous file is now ${cwd}/config.toml.replaced-1.`,
  )
  expect(textIn(cwd, 'config.toml')).toBe(OLD)
  expect(textIn(cwd, 'config.toml.replaced-1')).toBe(commentedConfig())
  expect((await run(['apps', 'list'], { cwd })).stdout).toMatch(CONNECTED)
})

test.each([
  ['another setting', '[log]\nlevel = "warn"\n', ''],
  [
    'another path of the database',
    '[store]\npath = "elsewhere.db"\n',
    'It names the database data/windfall.db: set store.path = "HERE/elsewhere.db" in it.\n',
  ],
])(
  'a configuration with %s stays, and the restore ends with an error that says what to do',
  async (_, present, more) => {
    const backup = await backupOf(OLD)
    const cwd = folderOf({ 'config.toml': present })
    const restored = await run(['restore', backup], { cwd })
    expect(restored.status).toBe(1)
    expect(restored.stdout.replaceAll(cwd, 'HERE')).toMatch(
      `The backup’s configuration is not in use. The server reads HERE/config.toml, which sets something else.
To use the backup’s, before you start Windfall: mv HERE/config.toml.restored HERE/config.toml
${more}`,
    )
    expect(textIn(cwd, 'config.toml')).toBe(present)
    renameSync(join(cwd, 'config.toml.restored'), join(cwd, 'config.toml'))
    if (more !== '') writeFileSync(join(cwd, 'config.toml'), `${present}${OLD}`)
    expect((await run(['apps', 'list'], { cwd })).stdout).toMatch(CONNECTED)
  },
)

test('--json says which config file is not in use', async () => {
  const backup = await backupOf(OLD)
  const into = async (config: string) => {
    const cwd = folderOf({ 'config.toml': config })
    const { stdout } = await run(['restore', backup, '--json'], { cwd })
    return { cwd, answer: JSON.parse(stdout) }
  }
  const kept = await into('[log]\nlevel = "warn"\n')
  expect(kept.answer).toMatchObject({ unused_config: join(kept.cwd, 'config.toml.restored') })
  expect((await into('# nothing\n')).answer).toMatchObject({ unused_config: null })
})

const canInstall =
  process.getuid?.() === 0 &&
  spawnSync('useradd', ['--version']).error === undefined &&
  spawnSync('unshare', ['--mount', 'true']).status === 0
if (!canInstall)
  process.stderr.write(
    '\n*** Not root, or no useradd or unshare: the drill with windfall install is SKIPPED.\n\n',
  )

describe.runIf(canInstall)('on a machine with a new installation', () => {
  const program = fileURLToPath(new URL('../../../dist/windfall.mjs', import.meta.url))

  /** Runs a script that sees an empty /var/lib and an empty /srv, each a file system of its own. */
  const runAlone = (script: string, folder: string) =>
    spawnSync('unshare', ['--mount', 'sh', '-ec', `${MOUNTS}\n${script}`], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
        NODE: process.execPath,
        PROGRAM: program,
        WINDFALL_RATES_FETCH: 'false',
      },
    })
  const MOUNTS = `mount -t tmpfs none /var/lib; mount -t tmpfs none /srv; mkdir /var/lib/windfall
windfall() { "$NODE" "$PROGRAM" "$@"; }`

  test.each([
    ['/var/lib/windfall/windfall.db', ''],
    ['/srv/windfall/windfall.db', '--original-paths'],
  ])('the old configuration is in use, with the database in %s', (database, option) => {
    const config = `[store]\npath = "${database}"\n\n[backup]\nfolder = "/var/lib/windfall/backups"\n\n${OLD}`
    const folder = folderOf({ 'config.toml': config, program: '#!/bin/sh\n' })
    const root = join(folder, 'root')
    mkdirSync(join(root, 'etc'), { recursive: true })
    chmodSync(folder, 0o755)
    for (const name of ['passwd', 'group', 'shadow', 'gshadow']) writeFileSync(join(root, 'etc', name), '')
    const { status, stdout, stderr } = runAlone(
      `windfall apps add com.example.other
windfall apps remove com.example.other
windfall backup backup.tar
rm -r "$(dirname ${database})"
mkdir -p /var/lib/windfall
windfall install --root root --no-start --executable program
windfall restore backup.tar ${option} --config root/etc/windfall/config.toml
ls ${database} "$(dirname ${database})"/*.staging-* || true
echo LIST
windfall apps list --config root/etc/windfall/config.toml`,
      folder,
    )
    expect({ status, stderr }).toMatchObject({ status: 0 })
    expect(stdout.split('LIST\n')[1]).toMatch(CONNECTED)
    expect(stdout).not.toContain('.staging-')
    expect(textIn(root, 'etc/windfall/config.toml')).toBe(config)
    expect(textIn(root, 'etc/windfall/config.toml.replaced-1')).toContain(
      'path = "/var/lib/windfall/windfall.db"',
    )
  })
})
