/** Prints why a command failed, as text or with `--json` as one document, and gives the exit code. */
import { ConfigError, issueLine } from '../../config/checks/issues.ts'
import { Refusal } from '../../errors.ts'
import { withCommands } from '../../program/form.ts'
import { isJson, printJsonError, writeTo } from '../instance/output.ts'

const FAILURE = 1
const WRONG_USAGE = 2

/** The codes of a value that an option does not take, and of missing options. */
const USAGE_CODES: readonly string[] = ['invalid_request', 'option_needed', 'options_needed']

/** `errors` has the faults of single settings or fields. `isUsage`: the command line or the configuration is wrong. */
type Failure = { code: string; message: string; errors?: readonly unknown[]; isUsage: boolean }

/** Prints a fault of the command line. Returns the exit code. */
export function printUsageFault(message: string): number {
  if (isJson()) printJsonError({ code: 'wrong_usage', message })
  else writeTo(process.stderr, message)
  return WRONG_USAGE
}

/** Prints what a command threw. Returns the exit code. */
export function printFailure(error: unknown): number {
  const { isUsage, ...failure } = failureOf(error)
  if (isJson()) printJsonError(failure)
  else writeTo(process.stderr, withCommands(textOf(error)))
  return isUsage ? WRONG_USAGE : FAILURE
}

function failureOf(error: unknown): Failure {
  if (error instanceof ConfigError) {
    const errors = error.issues.map(({ path, problem, advice }) => ({ path, message: problem, advice }))
    return { code: 'invalid_configuration', message: textOf(error), errors, isUsage: true }
  }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Refusal) {
    const { code, errors } = error
    return { code, message, ...(errors && { errors }), isUsage: USAGE_CODES.includes(code) }
  }
  if (isParserError(error)) return { code: 'wrong_usage', message, isUsage: true }
  return { code: 'failed', message, isUsage: false }
}

function textOf(error: unknown): string {
  if (error instanceof ConfigError) return error.issues.map(issueLine).join('\n')
  if (error instanceof Refusal) {
    const faults = (error.errors ?? []).map(({ path, message }) => `${path}: ${message}`)
    return [
      error.message,
      ...faults.filter((fault) => fault !== error.message).map((fault) => `  ${fault}`),
    ].join('\n')
  }
  if (isParserError(error)) return `${error.message}. --help lists the options.`
  if (!(error instanceof Error)) return String(error)
  // A plain Error has a readable message. Any other error also needs its stack.
  return error.constructor === Error ? error.message : (error.stack ?? error.message)
}

const isParserError = (error: unknown): error is Error => error instanceof Error && error.name === 'CLIError'
