/** What an upgrade works with: the installed files, the service, the configuration, and whom it reports to. */
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { listenUrl } from '../../config/base_url.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { Refusal } from '../../errors.ts'
import { form } from '../../program/form.ts'
import { openSystemctl, type Service, type ServiceState } from '../../systemd/systemctl.ts'
import { UNIT_NAME } from '../../systemd/unit.ts'
import { load } from '../instance/instance.ts'
import { ownerOf } from '../instance/privileges.ts'
import { type Asking, openAsking } from './asking.ts'
import { openJournal } from './journal.ts'
import type { Report } from './report.ts'

export type Plan = {
  /**
   * The installed program; the new one beside it; the old one, once the new one is in place; and the one that was `previous`
   * before, until the new one is ready.
   */
  program: string
  staged: string
  previous: string
  earlier: string
  journal: ReturnType<typeof openJournal>
  loaded: LoadedConfig
  asking: Asking
  service: Service
  /** Whether the service runs this program. Without it, the person at the terminal starts and stops the server. */
  isService: boolean
  readyUrl: string
  /** How long the new version may take, if the caller says so. */
  wait_ms: number | null
  report: Report
}

type PlanOptions = {
  config: string | undefined
  program: string | undefined
  wait_seconds: string | undefined
  report: Report
}

/** Collects what an upgrade needs. Changes nothing. @throws Refusal; ConfigError */
export function openPlan({ config, program: given, wait_seconds, report }: PlanOptions): Plan {
  const program = installedProgram(given)
  const loaded = load(config)
  const service = openSystemctl()
  const state = service.state()
  assertOwnService(state, program)
  if (loaded.config.server.port === 0)
    throw new Refusal(
      400,
      'no_port',
      'server.port is 0, so it is unknown where to ask whether the server is ready: set a port',
    )
  return {
    program,
    staged: `${program}.new`,
    previous: `${program}.previous`,
    earlier: `${program}.earlier`,
    journal: openJournal(`${program}.upgrade`),
    loaded,
    asking: openAsking(ownerOf(loaded.config.store.path), loaded.base),
    service,
    isService: state?.isLoaded === true,
    readyUrl: `${listenUrl(loaded.config.server)}/readyz`,
    wait_ms: wait_seconds === undefined ? null : secondsOf(wait_seconds) * 1_000,
    report,
  }
}

function secondsOf(text: string): number {
  const seconds = Number(text)
  if (Number.isFinite(seconds) && seconds > 0) return seconds
  throw new Refusal(400, 'invalid_request', '--wait needs a number of seconds above 0')
}

/** The installed executable. An interrupted upgrade can be continued with `windfall.previous`. */
function installedProgram(given: string | undefined): string {
  const running = given ?? (form === 'executable' ? process.execPath : null)
  if (running === null)
    throw new Refusal(
      400,
      'no_executable',
      'Windfall runs from npm here: stop it, get the new version with git pull, and start it with npm start, which backs up and upgrades the database',
    )
  const program = resolve(running).replace(/\.previous$/, '')
  if (!existsSync(program) || !statSync(program).isFile())
    throw new Refusal(404, 'no_executable', `there is no file ${program}`)
  return program
}

/** @throws Refusal 409 `other_program` if the service runs another file. */
function assertOwnService(state: ServiceState | null, program: string): void {
  if (state === null || !state.isLoaded || state.program === null || state.program === program) return
  throw new Refusal(
    409,
    'other_program',
    `${UNIT_NAME} runs ${state.program}, not ${program}: run ${state.program} upgrade FILE`,
  )
}

/** The arguments that name the config file to a command. */
export const configArgs = ({ file }: LoadedConfig): string[] => (file === null ? [] : ['--config', file])

/** The name of the program in commands for a person: without its folder if the shell finds it. */
export const shortName = (program: string): string =>
  dirname(program) === '/usr/local/bin' ? basename(program) : program
