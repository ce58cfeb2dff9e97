/** Starts the probe, an app without a screen that uses the core of the Android SDK, and talks with it. */
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { FOLDER, PROJECT } from '../../tools/android/maven.ts'
import { startProcess } from '../sdk/probe_process.ts'

type State = {
  queue: number
  /** The purchases that wait. */
  tokens: string[]
  /** Why purchases are not sent again. */
  refused: string[]
  appUserId?: string
  anonymousId: string
  lastAnswer?: string
  isStored: boolean
}

const KOTLIN = 'repository/org/jetbrains/kotlin/kotlin-stdlib'

/** The classes that Maven compiled, and their one dependency. */
function classPath(): string {
  const version = readFileSync(join(PROJECT, 'pom.xml'), 'utf8').match(/<kotlin.stdlib.version>(.*)</)?.[1]
  const parts = [
    join(PROJECT, 'target/classes'),
    join(PROJECT, 'target/test-classes'),
    join(FOLDER, `${KOTLIN}/${version}/kotlin-stdlib-${version}.jar`),
  ]
  const missing = parts.find((part) => !existsSync(part))
  if (missing) throw new Error(`${missing} is missing; run npm run test:android first`)
  return parts.join(delimiter)
}

/**
 * The first makes the JVM start sooner. Java would repeat a request without an answer by itself, which Android does only on a
 * connection that the server closed meanwhile.
 */
const JAVA = ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Dsun.net.http.retryPost=false']

/** Starts the probe with the storage of an install. `ahead`: the seconds that its clock is ahead. */
export function startProbe(install: string, { ahead = 0 }: { ahead?: number } = {}) {
  const probe = startProcess([
    ...JAVA,
    '-cp',
    classPath(),
    'dev.windfall.core.ProbeKt',
    install,
    String(ahead),
  ])

  return {
    ...probe,
    /** The lines for the developer of the app. */
    debugLines: (): unknown[] => probe.lines.flatMap(({ debug }) => (debug === undefined ? [] : [debug])),
    async flush(): Promise<void> {
      const flushed = probe.next('done', ({ done }) => done === 'flush')
      probe.send({ do: 'flush' })
      await flushed
    },
    async state(): Promise<State> {
      const state = probe.next('queue')
      probe.send({ do: 'debugState' })
      return (await state) as State
    },
  }
}
