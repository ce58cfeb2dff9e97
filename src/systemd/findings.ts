/** The finding of `windfall doctor` about the systemd unit and the paths of the configuration. */
import type { LoadedConfig } from '../config/load.ts'
import { type Finding, fault, ok } from '../health/findings.ts'
import { accessProblems } from './access.ts'
import { readUnit } from './unit.ts'

/** Whether the installed service can use every configured path. No finding without an installed service. */
export function* examineService(loaded: LoadedConfig): Generator<Finding> {
  const unit = readUnit()
  if (unit === null) return
  const problems = accessProblems(loaded)
  for (const { setting, problem, advice } of problems)
    yield fault('service', `${setting}: ${problem}. ${advice}`)
  if (problems.length === 0) yield ok('service', `${unit.file} permits every path of the configuration.`)
}
