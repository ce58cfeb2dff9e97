import { mkdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../folders.ts'
import { handClock, openTestApp } from '../../helpers.ts'
import { restore } from '../../store/schema/dump.ts'
import { ENVIRONMENT, MADE_AT } from '../../store/schema/every_table.ts'
import { placeSealingKey } from '../../store/schema/outgoing_rows.ts'

const RELEASED = readFileSync(new URL('../../store/schema/fixtures/0.3.0.sql', import.meta.url), 'utf8')

test('what 0.3.0 gave up is lost unless a later delivery of the event was finished or waits', async () => {
  const folder = temporaryFolder().path
  const file = `${folder}/data/windfall.db`
  mkdirSync(`${folder}/data`)
  restore(RELEASED, file)
  placeSealingKey(file)
  const app = await openTestApp({ folder, apps: [], env: ENVIRONMENT, clock: handClock(MADE_AT) })
  const { endpoints, log } = app.windfall.forwarding
  const lost = Object.fromEntries(endpoints.list().map((one) => [one.name, log.healthOf(one).lost]))
  // A replay delivered the same event to the endpoint `healthy`.
  expect(lost).toMatchObject({ healthy: 0, failing: 1 })
})
