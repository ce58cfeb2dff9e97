/** What a stop leaves undone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openTestApp } from '../../helpers.ts'

test('an app that is connected during a stop is summed at the next start, without an error', async () => {
  const logged: string[] = []
  const app = await openTestApp({ logged })
  await app.close()
  app.windfall.reported.appsJoined(app.organization.id)
  for (let turn = 0; turn < 10; turn += 1) await nextTurn()
  expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
