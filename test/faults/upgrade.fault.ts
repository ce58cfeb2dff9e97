import { copyFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openRandom } from '../../src/demo/world/random.ts'
import { identifyFile } from '../../src/store/schema/identify.ts'
import { upgrade } from '../../src/store/schema/migrations.ts'
import { temporaryFolder } from '../folders.ts'
import { start } from '../processes.ts'
import { isLong, seed } from '../random.ts'
import { VERSIONS, writeFirst } from '../store/schema/versions.ts'

const CRASHES = isLong ? 200 : 20
const NOTES = 2_000
const MOMENTS = ['start', 'begin 8', 'end 8', 'begin 9', 'end 9', 'begin 10', 'end 10']
const MOST_TURNS = 300

const entry = fileURLToPath(new URL('upgrading.ts', import.meta.url))

function inTurns(turns: number, act: () => void): void {
  if (turns === 0) act()
  else setImmediate(inTurns, turns - 1, act)
}

/** Upgrades `file` in a process that is killed a number of turns of this event loop after it printed `moment`. */
async function crash(file: string, moment: string, turns: number): Promise<void> {
  const running = start([file], { cwd: temporaryFolder().path, entry })
  await running.until((stdout) => stdout.includes(`${moment}\n`) || null)
  inTurns(turns, () => void running.kill('SIGKILL'))
  await running.ended
}

/** Checks the invariants of every moment: the schema of one version, and every row. */
function versionOf(file: string): number | undefined {
  const identity = identifyFile(file, VERSIONS)
  const db = new Database(file)
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(db.pragma('foreign_key_check')).toEqual([])
    expect(db.prepare('select count(*) from notes').pluck().get()).toBe(NOTES)
    expect(db.prepare("select seq from sqlite_sequence where name = 'notes'").pluck().get()).toBe(NOTES + 1)
  } finally {
    db.close()
  }
  return identity?.version
}

test(`a kill at any moment of an upgrade leaves one version intact, and the next start finishes it (${CRASHES} kills, seed ${seed})`, {
  timeout: isLong ? 600_000 : 60_000,
}, async () => {
  const random = openRandom(`upgrade/${seed}`)
  const folder = temporaryFolder().path
  writeFirst(`${folder}/first.db`, NOTES)
  const found = new Set<number | undefined>()
  for (let n = 0; n < CRASHES; n += 1) {
    const file = `${folder}/${n}.db`
    copyFileSync(`${folder}/first.db`, file)
    await crash(file, MOMENTS[n % MOMENTS.length] ?? '', random.whole(0, MOST_TURNS))
    found.add(versionOf(file))
    await upgrade(file, { versions: VERSIONS })
    expect(versionOf(file)).toBe(10)
  }
  expect(found.size).toBeGreaterThan(2)
})
