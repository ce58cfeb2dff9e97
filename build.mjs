/**
 * Installs what is missing and builds dist/windfall.mjs, each only when something changed. `--install-only` does not
 * build; `--quiet` keeps standard output free for the command that follows. Plain JavaScript without dependencies, because it is what runs first on a fresh
 * machine, on whatever Node that has.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { at, buildOf } from './tools/bundle.mjs'
import { writeProgram } from './tools/program.mjs'

const quiet = process.argv.includes('--quiet')
const say = (text) => (quiet ? process.stderr : process.stdout).write(`${text}\n`)

const fingerprint = (files) => {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(at(file)))
      .update('\0')
  return hash.digest('hex')
}

const isFresh = (stamp, mark) => existsSync(at(stamp)) && readFileSync(at(stamp), 'utf8') === mark

const filesBelow = (folder) =>
  readdirSync(at(folder), { recursive: true })
    .map((name) => `${folder}/${name}`.replaceAll('\\', '/'))
    .filter((name) => statSync(at(name)).isFile())
    .sort()

function install() {
  const mark = fingerprint(['package.json', 'package-lock.json'])
  if (isFresh('node_modules/.windfall', mark)) return
  say('Installing what is missing (once; about a minute) …')
  const npm = process.env.npm_execpath
  // npm_config_* of the outer npm would be taken for settings of this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)/.test(name)),
  )
  const [command, ...args] = npm ? [process.execPath, npm] : ['npm']
  const { status } = spawnSync(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: at('.'),
    env,
    stdio: ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'],
    shell: !npm && process.platform === 'win32',
  })
  if (status !== 0) {
    process.stderr.write('npm could not install the dependencies; its messages above say why.\n')
    process.exit(1)
  }
  writeFileSync(at('node_modules/.windfall'), mark)
}

/** A package's install script puts Node there, which npm leaves out where install scripts are switched off. */
function assertNode() {
  if (Number.parseInt(process.versions.node, 10) >= 24 || existsSync(at('node_modules/node/bin'))) return
  process.stderr.write(
    `Windfall needs Node 24, this is ${process.version}, and npm left out the one it should install: run "npm rebuild node --ignore-scripts=false", or use Node 24.\n`,
  )
  process.exit(1)
}

async function build() {
  const mine = [
    'schema.sql',
    'build.mjs',
    'tools/bundle.mjs',
    'tools/packages.mjs',
    'tools/program.mjs',
    'package.json',
    'package-lock.json',
  ]
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  // With the commit, because the program says which one it was built from.
  const own = buildOf(version)
  const mark = fingerprint([...filesBelow('src'), ...mine]) + JSON.stringify(own)
  if (isFresh('dist/.built', mark)) return
  say('Building …')
  await writeProgram(at('dist'))
  writeFileSync(at('dist/.built'), mark)
}

install()
assertNode()
if (!process.argv.includes('--install-only')) await build()
