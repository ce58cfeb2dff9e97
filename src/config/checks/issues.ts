/** What we compute: complaints about the configuration that a person can act on. */

/** Keys and positions from the top of the configuration down to one value. */
export type Path = readonly (string | number)[]

/** One thing that is wrong, where it was written, and what to write instead. */
export type ConfigIssue = Readonly<{
  /** The setting, as in `apps[0].bundle_id`. Empty when it is about the file or a variable as a whole. */
  path: string
  line: number | null
  /** The file (as seen from the working directory), the environment variable or the key file. */
  source: string
  problem: string
  advice: string
}>

/** `['apps', 0, 'bundle_id']` as people read it: `apps[0].bundle_id`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    const word = /^[\w-]+$/.test(key) ? key : JSON.stringify(key)
    return text === '' ? word : `${text}.${word}`
  }, '')
}

/** The complaint on one line: `config.toml:12  server.prot  unknown setting. Did you mean server.port?` */
export function issueLine(issue: ConfigIssue): string {
  const where = issue.line === null ? issue.source : `${issue.source}:${issue.line}`
  const about = `${issue.problem}. ${issue.advice}`
  return [where, issue.path, about].filter((part) => part !== '').join('  ')
}

/** The configuration cannot be used. Carries everything that is wrong with it; its message is all of that, a line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly issues: readonly ConfigIssue[]

  constructor(issues: readonly ConfigIssue[]) {
    super(issues.map(issueLine).join('\n'))
    this.issues = issues
  }
}
