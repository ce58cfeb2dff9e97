/** Controls the installed service through `systemctl`. */
import { spawnSync } from 'node:child_process'
import { Refusal } from '../errors.ts'
import { UNIT_NAME } from './unit.ts'

/**
 * What `systemctl show` says about the service. `program` is the file that its ExecStart runs. `sub` is `auto-restart`
 * after a crash. `invocation` changes with each start.
 */
export type ServiceState = {
  isLoaded: boolean
  active: string
  sub: string
  invocation: string
  program: string | null
}

export type Service = {
  /** The state of the service; null where systemd does not run, as in a container. */
  state(): ServiceState | null
  /** Runs `systemctl VERB windfall.service` until it ends. @throws Refusal 500 `systemctl` with what it printed. */
  run(verb: 'start' | 'stop' | 'restart' | 'enable' | 'disable' | 'reset-failed'): void
  /** Begins to start or restart the service, and does not wait until it is ready. @throws like `run` */
  begin(verb: 'start' | 'restart'): void
  /** Makes systemd read its units again. @throws like `run` */
  reload(): void
}

const PROPERTIES = 'LoadState,ActiveState,SubState,InvocationID,ExecStart'

/** The service of this machine. */
export function openSystemctl(): Service {
  function state(): ServiceState | null {
    const shown = systemctl('show', UNIT_NAME, `--property=${PROPERTIES}`)
    if (shown === null || shown.status !== 0) return null
    const of = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(shown.stdout)?.[1] ?? ''
    return {
      isLoaded: of('LoadState') === 'loaded',
      active: of('ActiveState'),
      sub: of('SubState'),
      invocation: of('InvocationID'),
      program: /path=(\S+)/.exec(of('ExecStart'))?.[1] ?? null,
    }
  }

  function runOrThrow(...args: string[]): void {
    const done = systemctl(...args)
    if (done?.status === 0) return
    const reason = done === null ? 'there is no systemctl' : done.stderr.trim()
    throw new Refusal(500, 'systemctl', `systemctl ${args.join(' ')} failed: ${reason}`)
  }

  return {
    state,
    run: (verb) => runOrThrow(verb, UNIT_NAME),
    begin: (verb) => runOrThrow(verb, UNIT_NAME, '--no-block'),
    reload: () => runOrThrow('daemon-reload'),
  }
}

function systemctl(...args: string[]): { status: number | null; stdout: string; stderr: string } | null {
  const { error, status, stdout, stderr } = spawnSync('systemctl', args, { encoding: 'utf8' })
  return error === undefined ? { status, stdout, stderr } : null
}
