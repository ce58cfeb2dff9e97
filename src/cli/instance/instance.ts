/** How a command reaches the instance: through the process that serves it, or directly if none does. */
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { systemClocks } from '../../clock.ts'
import type { LoadedConfig } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import { callControl, runVerb, type Verbs } from '../../control/socket.ts'
import { utcMinuteText } from '../../days.ts'
import { Refusal } from '../../errors.ts'
import { openLog } from '../../log.ts'
import { startCommand } from '../../program/form.ts'
import { assertNotSwapping } from '../../store/backup/swap.ts'
import { lockForServing } from '../../store/disk/lock.ts'
import { realPathOf } from '../../store/disk/paths.ts'
import { loadWithTypes } from './load.ts'
import { setResult } from './output.ts'
import { actAsOwnerOf } from './privileges.ts'

/** The arguments of every command that needs the configuration. */
export const configArg = {
  config: {
    type: 'string',
    valueHint: 'FILE',
    description: 'The config file (default: WINDFALL_CONFIG, else ./config.toml, else the installed one)',
  },
} as const

/** The arguments of every command that concerns one organization. */
export const organizationArg = {
  organization: { type: 'string', valueHint: 'SLUG', description: 'The organization, if there are several' },
} as const

/** The number of attempts while another command has the instance open, and the pause between two attempts. */
const MAX_ATTEMPTS = 20
const RETRY_PAUSE_MS = 100

/** Loads the configuration of a command. @throws ConfigError */
export const load = (configPath: string | undefined): LoadedConfig =>
  loadWithTypes({ path: configPath, env: process.env, cwd: process.cwd() })

/** Runs a verb and resolves with its answer. @throws Refusal from the verb. */
export type SendVerb = <Answer>(verb: string, args: unknown) => Promise<Answer>

/**
 * Runs `verb` on the instance that `configPath` configures, and returns its answer.
 *
 * @throws Refusal from the verb; ConfigError.
 */
export function sendVerb<Answer>(
  configPath: string | undefined,
  verb: string,
  args: unknown,
): Promise<Answer> {
  return withInstance(configPath, (send) => send<Answer>(verb, args))
}

/**
 * Runs `work` with a function that sends verbs to the instance that `configPath` configures. `work` can send several
 * verbs, also concurrently. If no process serves the instance, `openLocal` opens it in this process until `work` ends.
 *
 * @throws everything that `work` throws; ConfigError; Refusal 404 `no_database` if the database does not exist, unless
 * the first verb is one that creates it.
 */
export async function withInstance<Result>(
  configPath: string | undefined,
  work: (send: SendVerb) => Promise<Result>,
  openLocal: (loaded: LoadedConfig) => Promise<LocalInstance> = openLocalApp,
): Promise<Result> {
  const loaded = load(configPath)
  const { config } = loaded
  let localInstance: Promise<LocalInstance> | null = null

  function openAsOwner(): Promise<LocalInstance> {
    actAsOwnerOf(config.store.path)
    return openLocal(loaded)
  }

  async function send<Answer>(verb: string, args: unknown): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const answered = localInstance === null ? await callControl(config.store.path, verb, args) : null
      if (answered) return answerOf(verb, answered.result) as Answer
      if (localInstance === null && verb !== CREATING_VERB) assertDatabaseExists(config)
      localInstance ??= openAsOwner()
      const opening = localInstance
      const { verbs } = await opening.catch((error: unknown) => {
        if (localInstance === opening) localInstance = null
        // The lock is held and no process listens: another command runs, or a server is starting.
        const isHeld = error instanceof Refusal && error.code === 'already_serving'
        if (!isHeld || attempt === MAX_ATTEMPTS) throw error
        return { verbs: null }
      })
      if (verbs) return answerOf(verb, await runVerb(verbs, verb, args)) as Answer
      await setTimeout(RETRY_PAUSE_MS)
    }
  }

  try {
    return await work(send)
  } finally {
    await (await (localInstance as Promise<LocalInstance> | null))?.close()
  }
}

/** Makes the answer of a verb the document that `--json` prints. The progress of a verb is not its answer. */
function answerOf(verb: string, answer: unknown): unknown {
  if (!verb.endsWith('.status') || verb === 'outgoing.status') setResult(answer)
  return answer
}

/** The verb that creates a database: an app may be connected before the first start. */
const CREATING_VERB = 'apps.add'

/**
 * In a wrong folder, any other command would create another database beside the one that is served, and succeed.
 *
 * @throws Refusal 404 `no_database`; 409 `restore_interrupted` while the database is partly replaced.
 */
export function assertDatabaseExists({ store }: Config): void {
  if (existsSync(store.path)) return
  assertNotSwapping(realPathOf(store.path))
  throw new Refusal(
    404,
    'no_database',
    `there is no database at ${store.path} yet; ${startCommand} creates it. If Windfall uses another file, run the command in its folder, or name its config file with --config`,
  )
}

/** An instance that is open in this process. */
type LocalInstance = { verbs: Verbs; close(): Promise<void> }

/** Opens the instance in this process, with all verbs. */
async function openLocalApp({ config }: LoadedConfig): Promise<LocalInstance> {
  const [{ openApp }, { verbsOf }] = await Promise.all([
    import('../../app.ts'),
    import('../../control/verbs.ts'),
  ])
  const lock = lockForServing(config.store.path)
  try {
    const log = openLog({ format: 'pretty', level: 'error', write: (text) => process.stderr.write(text) })
    const windfall = await openApp({ config, ...systemClocks, log })
    return {
      verbs: verbsOf(windfall),
      async close(): Promise<void> {
        await windfall.close()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** The width to which columns are aligned. A longer cell moves only the rest of its own row. */
const MAX_WIDTH = 120

/** Formats rows as aligned columns. */
export function columns(rows: readonly (readonly (string | number | null)[])[]): string {
  const textRows = rows.map((row) => row.map((cell) => String(cell ?? '-')))
  const widthOf = (column: number): number =>
    textRows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0)
  const widths = textRows[0]?.map((_, column) => Math.min(widthOf(column), MAX_WIDTH)) ?? []
  return textRows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** `1 day`, `3 days`, `1,234 days`. */
export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

/** Removes control characters from untrusted text. */
export const stripControls = (text: string): string => text.replace(/\p{Cc}/gu, ' ')

/** An instant (ms) as a UTC time to the minute; a dash for null. */
export const instantText = (at: number | null): string => (at === null ? '-' : utcMinuteText(at))
