/** Issues of a configuration: what is wrong, where, and what to write instead. */

/** Keys and list indexes from the top level of the configuration to one value. */
export type Path = readonly (string | number)[]

/** One problem, where it was written, and what to write instead. */
export type ConfigIssue = Readonly<{
  /** The setting, such as `apps[0].bundle_id`. Empty if the issue concerns a whole file or variable. */
  path: string
  line: number | null
  /** The file (relative to the working directory), the environment variable or the key file. */
  source: string
  problem: string
  advice: string
}>

/** The path as text: `['apps', 0, 'bundle_id']` is `apps[0].bundle_id`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    const word = /^[\w-]+$/.test(key) ? key : JSON.stringify(key)
    return text === '' ? word : `${text}.${word}`
  }, '')
}

/** The issue on one line: `config.toml:12  server.prot  unknown setting. Did you mean server.port?` */
export function issueLine(issue: ConfigIssue): string {
  const where = issue.line === null ? issue.source : `${issue.source}:${issue.line}`
  const about = `${issue.problem}. ${issue.advice}`
  return [where, issue.path, about].filter((part) => part !== '').join('  ')
}

/** The error for an invalid configuration. `issues` has every issue; the message has one line for each issue. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly issues: readonly ConfigIssue[]

  constructor(issues: readonly ConfigIssue[]) {
    super(issues.map(issueLine).join('\n'))
    this.issues = issues
  }
}
