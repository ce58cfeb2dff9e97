/**
 * Releases the version in package.json: runs the checks, builds the program and the executables, writes the release notes,
 * creates the annotated tag and records the release in docs/releases.md, because a tag does not travel with a branch. It
 * never pushes. Plain JavaScript without dependencies, like build.mjs.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const USAGE = `Usage: npm run release -- [--dry-run] [--checked] [--fixture]

  --dry-run  print what a release would do, without doing it
  --checked  skip .ci/run; use it when .ci/run has passed on this commit
  --fixture  write test/store/schema/fixtures/VERSION.sql, the database of this version, and exit

If WINDFALL_RELEASE_CHECK is set, it runs instead of .ci/run.
`

const RECORD = 'docs/releases.md'

const root = new URL('..', import.meta.url)
const at = (path) => fileURLToPath(new URL(path, root))
const read = (path) => readFileSync(at(path), 'utf8')
const say = (text) => process.stdout.write(`${text}\n`)

function fail(...lines) {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}

/** The output of a git command that reads; null if it fails. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: at('.'), encoding: 'utf8' })
  return status === 0 ? stdout.trimEnd() : null
}

/** Runs a command with its output visible, and exits if it fails. */
function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: at('.'), stdio: 'inherit', ...options })
  if (status !== 0) fail(`${[command, ...args].join(' ')} failed: ${error?.message ?? `status ${status}`}`)
}

/** The changelog text of `version` (heading `## 0.1.0` or `## 0.1.0 - 2026-01-31`); empty if there is none. */
function notesOf(version) {
  const sections = read('CHANGELOG.md').split(/^## /m)
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version) ?? ''
  return section.slice(section.indexOf('\n') + 1).trim()
}

/** The reasons against releasing this commit, one sentence each. */
function obstaclesTo({ version, tag, notes, fixture }) {
  const changes = git('status', '--porcelain')
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
  return [
    changes === null && 'This is not a git repository.',
    changes && `The working tree has uncommitted changes:\n${changes}`,
    branch !== 'main' && `Releases are made on main; the current branch is ${branch}.`,
    isTagged(tag) && `The tag ${tag} exists. Raise the version in package.json.`,
    isRecorded(version) && `${RECORD} has the version ${version}. Raise the version in package.json.`,
    notes === '' && `CHANGELOG.md has no section "## ${version}".`,
    !existsSync(at(fixture)) && `${fixture} is missing. Create it: npm run release -- --fixture`,
    existsSync(at(fixture)) &&
      !read(fixture).startsWith(read('schema.sql')) &&
      `${fixture} differs from schema.sql. Create it again: npm run release -- --fixture`,
  ].filter(Boolean)
}

const isTagged = (tag) => git('rev-parse', '--quiet', '--verify', `refs/tags/${tag}`) !== null
const isRecorded = (version) => read(RECORD).includes(`\n| ${version} |`)

/** Adds the row of the release to the record and commits it. */
function record(version, commit) {
  const [, schema] = /^pragma user_version = (\d+)/m.exec(read('schema.sql'))
  const today = new Date().toISOString().slice(0, 10)
  appendFileSync(at(RECORD), `| ${version} | ${commit} | ${schema} | ${today} |\n`)
  run('git', ['commit', '--quiet', '--message', `release: record ${version}`, '--', RECORD])
}

function writeFixture(fixture) {
  run(process.execPath, ['build.mjs', '--quiet'])
  run(
    at('node_modules/.bin/node'),
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      'test/vitest.config.ts',
      'test/store/schema/fixtures.test.ts',
      '--testNamePattern',
      'the database of a release',
    ],
    { env: { ...process.env, WINDFALL_FIXTURE: at(fixture) } },
  )
  say(`Wrote ${fixture}. Commit it.`)
}

function parsed() {
  const flag = { type: 'boolean', default: false }
  try {
    return parseArgs({ options: { 'dry-run': flag, checked: flag, fixture: flag, help: flag } }).values
  } catch (error) {
    return fail(error.message, '', USAGE)
  }
}

function release({ version, tag, notes, fixture }, { isDry, isChecked }) {
  const check = process.env.WINDFALL_RELEASE_CHECK ?? '.ci/run'
  const file = `dist/${tag}.md`
  const commit = git('rev-parse', 'HEAD')
  if (isDry) {
    if (!isChecked) say(`Would run ${check}.`)
    say(
      `Would run node build.mjs and npm run build:binary, write ${file}, make the annotated tag ${tag} at ${commit} and record it in ${RECORD}:\n`,
    )
    return say(notes)
  }
  if (!isChecked) run(check, [], { shell: true })
  run(process.execPath, ['build.mjs'])
  run('npm', ['run', 'build:binary'])
  const obstacles = obstaclesTo({ version, tag, notes, fixture })
  if (obstacles.length > 0) fail('The checks changed the working tree:', ...obstacles)
  mkdirSync(at('dist'), { recursive: true })
  writeFileSync(at(file), `Windfall ${version}\n\n${notes}\n`)
  // The default cleanup would drop headings as comments.
  run('git', ['tag', '--annotate', tag, '--cleanup=whitespace', '--file', file])
  record(version, commit)
  return say(
    `Tagged ${tag} and recorded it in ${RECORD}; its notes are in ${file}, the executables in dist/binary. Publish it: git push origin main ${tag}`,
  )
}

const options = parsed()
const { version } = JSON.parse(read('package.json'))
const plan = {
  version,
  tag: `v${version}`,
  notes: notesOf(version),
  fixture: `test/store/schema/fixtures/${version}.sql`,
}
if (options.help) say(USAGE)
else if (options.fixture) {
  if (isTagged(plan.tag) || isRecorded(version)) fail(`${plan.tag} is released; its fixture must not change.`)
  writeFixture(plan.fixture)
} else {
  const obstacles = obstaclesTo(plan)
  if (obstacles.length > 0) fail(...obstacles)
  release(plan, { isDry: options['dry-run'], isChecked: options.checked })
}
