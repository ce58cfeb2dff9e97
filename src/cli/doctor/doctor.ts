/** The command `windfall doctor`: checks the installation and says how to fix what it finds. */
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import { APPLE_HOSTS } from '../../apple/api/hosts.ts'
import { systemClock } from '../../clock.ts'
import { type CheckResult, detailOf } from '../../doctor/result.ts'
import { version } from '../../version.ts'
import { configArg } from '../instance/instance.ts'
import { print, setResult } from '../instance/output.ts'
import { diagnose } from './diagnose.ts'
import { countsOf, countsText, resultText } from './report.ts'

export const doctorCommand = defineCommand({
  meta: { name: 'doctor', description: 'Check that everything works, and how to fix what does not' },
  args: {
    test: {
      type: 'boolean',
      default: false,
      description: 'Also request a test notification for each app and follow it',
    },
    ...configArg,
  },
  async run({ args }) {
    const results: CheckResult[] = []
    for await (const result of diagnose({
      loadOptions: { path: args.config, env: process.env, cwd: process.cwd() },
      isTestRequested: args.test,
      hosts: APPLE_HOSTS,
      clock: systemClock,
      wait: (ms) => setTimeout(ms),
    })) {
      results.push(result)
      print(resultText(result))
    }
    const counts = countsOf(results)
    setResult(documentOf(results))
    print(`\n${countsText(counts)}`)
    if (counts.error > 0) process.exitCode = 1
  },
})

/** What `--json` prints. */
function documentOf(results: readonly CheckResult[]) {
  const checks = results.map(({ quote, ...result }) => ({
    ...result,
    detail: detailOf({ ...result, quote }),
  }))
  return { version, checked_at: systemClock(), ...countsOf(results), checks }
}
