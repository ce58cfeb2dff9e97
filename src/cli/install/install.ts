/** The command `windfall install`: makes this machine, or an image of one, run Windfall as a service. */
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defineCommand } from 'citty'
import { ConfigError } from '../../config/checks/issues.ts'
import { Refusal } from '../../errors.ts'
import { INSTALLED_FOLDER, writeAddon } from '../../program/addon.ts'
import { form } from '../../program/form.ts'
import { accessProblems } from '../../systemd/access.ts'
import { openSystemctl } from '../../systemd/systemctl.ts'
import { UNIT } from '../../systemd/unit.ts'
import { loadWithTypes } from '../instance/load.ts'
import { print, setResult } from '../instance/output.ts'
import { ensureUser } from './account.ts'
import { firstConfig } from './first_config.ts'
import {
  DATA_FOLDER,
  ensureCopy,
  ensureFolder,
  ensureText,
  hasSameContent,
  layoutAt,
  makeParents,
  type Outcome,
} from './layout.ts'

/** What a step did with a file, a folder, the user or the service. */
type Step = { what: string; outcome: Outcome | 'started' | 'not started' }

const ROOT_OWNER = { uid: 0, gid: 0 }

type InstallOptions = { root: string; program: string; starts: boolean }

/** Brings the machine at `root` into the installed state. A second call changes nothing. */
function install({ root, program, starts }: InstallOptions): Step[] {
  const layout = layoutAt(root)
  if (starts) assertSystemd()
  if (root === '/') assertSameProgram(layout.program, program)
  const { outcome, uid, gid } = ensureUser(root)
  const owner = { uid, gid }
  const config = existsSync(layout.config) ? null : firstConfig(DATA_FOLDER)
  for (const file of [layout.program, layout.unit]) makeParents(file)
  const steps: Step[] = [
    { what: 'the user windfall', outcome },
    { what: layout.configFolder, outcome: ensureFolder(layout.configFolder, { mode: 0o700, owner }) },
    {
      what: layout.config,
      outcome: config === null ? 'unchanged' : ensureText(layout.config, config, { mode: 0o600, owner }),
    },
    { what: layout.data, outcome: ensureFolder(layout.data, { mode: 0o700, owner }) },
    { what: layout.addons, outcome: installAddon(layout.addons) },
    {
      what: layout.program,
      outcome: ensureCopy(layout.program, program, { mode: 0o755, owner: ROOT_OWNER }),
    },
    { what: layout.unit, outcome: ensureText(layout.unit, UNIT, { mode: 0o644, owner: ROOT_OWNER }) },
  ]
  return starts ? [...steps, startService(steps)] : steps
}

/** @throws Refusal 409 `other_version`: only an upgrade backs up the database first, and can go back. */
function assertSameProgram(installed: string, program: string): void {
  if (!existsSync(installed) || hasSameContent(installed, program)) return
  throw new Refusal(
    409,
    'other_version',
    `${installed} is another version or build. To replace it: windfall upgrade ${program}`,
  )
}

/** Writes SQLite's addon so that every user can load it and only root can replace it. */
function installAddon(folder: string): Outcome {
  const before = ensureFolder(folder, { mode: 0o755, owner: ROOT_OWNER })
  if (form !== 'executable') return before
  const isNew = !readdirSync(folder).some((name) => name.endsWith('.node'))
  const names = new Set(readdirSync(folder))
  const file = writeAddon(folder)
  chmodSync(file, 0o555)
  return isNew ? 'created' : names.has(file.slice(folder.length + 1)) ? before : 'updated'
}

/** @throws Refusal 409 `no_systemd`, before anything is installed */
function assertSystemd(): void {
  if (openSystemctl().state() !== null) return
  throw new Refusal(
    409,
    'no_systemd',
    'systemd does not run here, so nothing was installed; add --no-start to install the files alone, or run windfall serve yourself',
  )
}

/** Starts the service now and at each boot. A running service is restarted only if a file of it changed. */
function startService(steps: readonly Step[]): Step {
  const service = openSystemctl()
  const before = service.state()
  const isChanged = steps.some(({ outcome }) => outcome !== 'unchanged')
  const isRunning = before?.isLoaded === true && before.active === 'active'
  if (isRunning && !isChanged) return { what: 'the service', outcome: 'unchanged' }
  service.reload()
  service.run('enable')
  service.run(isRunning ? 'restart' : 'start')
  return { what: 'the service', outcome: isRunning ? 'updated' : 'started' }
}

/** What the owner does next. */
const nextSteps = (starts: boolean): string => `
Next:
  1. Put a proxy with https in front (docs/install.md has recipes), and set base_url in /etc/windfall/config.toml.
  2. systemctl ${starts ? 'reload' : 'enable --now'} windfall
  3. windfall owner reset      prints a link to choose the password of the dashboard
  4. windfall connect          takes Apple's keys
`

/** What keeps the service from its configuration or from the paths in it, in words. */
function problemsIn(root: string): string[] {
  const { config } = layoutAt(root)
  try {
    const loaded = loadWithTypes({ path: config, env: {}, cwd: dirname(config) })
    return accessProblems(loaded, root).map(
      ({ setting, problem, advice }) => `${setting}: ${problem}. ${advice}`,
    )
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [`${config} is not valid:\n${error.message}`]
  }
}

/** @throws Refusal 403 `not_root` */
export function assertRoot(command: string): void {
  if (process.geteuid?.() === 0) return
  throw new Refusal(403, 'not_root', `${command} changes the system; run it as root: sudo ${command}`)
}

/** The executable to install. @throws Refusal 400 `no_executable` when the program runs from npm. */
function programToInstall(given: string | undefined): string {
  if (given !== undefined) {
    if (existsSync(given)) return resolve(given)
    throw new Refusal(404, 'no_executable', `there is no file ${given}`)
  }
  if (form === 'executable') return process.execPath
  throw new Refusal(
    400,
    'no_executable',
    'Windfall runs from npm here, and install needs the single executable: build it with npm run build:binary, then run that file with install, or pass it as --executable',
  )
}

function printSteps(steps: readonly Step[]): void {
  for (const { what, outcome } of steps) print(`${outcome.padEnd(11)}  ${what}`)
}

export const installCommand = defineCommand({
  meta: {
    name: 'install',
    description:
      'Install this executable as a systemd service: user, folders, unit and first config (as root)',
  },
  args: {
    root: {
      type: 'string',
      valueHint: 'DIR',
      default: '/',
      description: 'The root folder of the system to install into, such as that of an image',
    },
    start: {
      type: 'boolean',
      default: true,
      description: 'Start the service now and at each boot',
      negativeDescription: 'Install without starting the service, now or at boot',
    },
    executable: {
      type: 'string',
      valueHint: 'FILE',
      description: 'The executable to install (default: the one that runs)',
    },
    'addon-only': {
      type: 'boolean',
      default: false,
      description: `Only write SQLite’s addon to ${INSTALLED_FOLDER}, for an image of a container`,
    },
  },
  run({ args }) {
    assertRoot('windfall install')
    const root = resolve(args.root)
    if (args['addon-only']) {
      const { addons } = layoutAt(root)
      const steps = [{ what: addons, outcome: installAddon(addons) }]
      setResult({ steps, problems: [] })
      return printSteps(steps)
    }
    const starts = args.start && root === '/'
    const steps = install({ root, program: programToInstall(args.executable), starts })
    const problems = problemsIn(root)
    setResult({ steps, problems })
    printSteps(steps)
    for (const problem of problems) print(problem)
    if (problems.length > 0) process.exitCode = 1
    else if (steps.every(({ outcome }) => outcome === 'unchanged')) print('Everything was installed already.')
    else print(nextSteps(starts))
  },
})
