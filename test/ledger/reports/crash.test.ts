import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addDays } from '../../../src/days.ts'
import { temporaryFolder } from '../../folders.ts'
import { isLong, seed } from '../../random.ts'
import { HOUR, openApple } from './apple.ts'
import { DAY, level, sale, subscriptionEvent } from './samples.ts'
import { endStateOf } from './year.ts'

const KILLED = isLong ? 50 : 5
/** When to kill it: at a random moment, or as soon as a report has this state. */
const HALFWAY = [null, 'loading', 'superseded']
const DAYS = Array.from({ length: 5 }, (_, index) => addDays(DAY, index - 4))
const american = (day: string): string => `${day.slice(5, 7)}/${day.slice(8)}/${day.slice(0, 4)}`

/** Days of several blocks each, some of which Apple has revised since. */
function setReports(apple: Awaited<ReturnType<typeof openApple>>, revision: number): void {
  for (const [index, day] of DAYS.entries()) {
    const dates = { 'Begin Date': american(day), 'End Date': american(day) }
    const rows = 900 * (index + 1) + (index % 2) * revision
    apple.setReply(
      'sales',
      day,
      Array.from({ length: rows }, (_, row) => sale({ ...dates, Units: String((row % 7) + 1) })),
    )
    apple.setReply(
      'subscription',
      day,
      Array.from({ length: 300 }, (_, row) => level({ State: String(row + revision) })),
    )
    apple.setReply('subscription_event', day, [subscriptionEvent({ 'Event Date': day })])
  }
}

/** The files that a process killed now leaves on the disk. */
function snapshot(folder: string): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  for (const name of ['windfall.db', 'windfall.db-wal']) {
    const from = join(folder, 'data', name)
    mkdirSync(join(path, 'data'), { recursive: true })
    if (existsSync(from)) copyFileSync(from, join(path, 'data', name))
  }
  return path
}

test('an import that is killed at any moment and started again ends in the same state', async () => {
  const apple = await openApple()
  setReports(apple, 0)
  const whole = await apple.openWindfall()
  await whole.imports.run({ days: DAYS.length })
  setReports(apple, 1)
  apple.clock.turn(6 * HOUR)
  const before = snapshot(whole.folder)

  // One complete run, for its result and the number of its moments.
  let moments = 0
  const running = whole.imports.run({ days: DAYS.length })
  for (; whole.imports.progress() !== null; moments += 1) await new Promise(setImmediate)
  expect(await running).toMatchObject({ failed: 0, stopped: [] })
  const right = endStateOf(whole.store)
  expect(right.strays).toEqual([])

  let chance = seed
  for (let kill = 0; kill < KILLED; kill += 1) {
    chance = (chance * 1_103_515_245 + 12_345) % 2_147_483_648
    const at = chance % moments
    const halfway = HALFWAY[kill % HALFWAY.length] ?? null
    const interrupted = await apple.openWindfall({ folder: snapshot(before) })
    const half = interrupted.store.prepare<[string | null]>('select 1 from reports where state = ?')
    const cutOff = interrupted.imports.run({ days: DAYS.length })
    for (let moment = 0; interrupted.imports.progress() !== null; moment += 1) {
      if (halfway === null ? moment === at : half.get(halfway) !== undefined) break
      await new Promise(setImmediate)
    }
    expect([halfway, half.get(halfway) !== undefined]).toEqual([halfway, halfway !== null])
    const left = snapshot(interrupted.folder)
    await interrupted.imports.close()
    await cutOff

    const again = await apple.openWindfall({ folder: left })
    // Interrupted loads are swept first, and every day is complete, in its old or its new version.
    expect(endStateOf(again.store).strays).toEqual([])
    await again.imports.run({ days: DAYS.length })
    expect([halfway ?? at, endStateOf(again.store)]).toEqual([halfway ?? at, right])
  }
})
