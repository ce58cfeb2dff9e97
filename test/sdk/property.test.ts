/**
 * The SDK against a model: random calls, kills between any two operations, a storage and a network that fail. No call is
 * lost, none applies to the wrong user, none takes effect twice, and the order of each user's calls is kept.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs, seed } from '../random.ts'
import { type Command, commands, openRun } from './commands.ts'

async function runAll(list: readonly Command[]): Promise<void> {
  const run = await openRun()
  for (const one of list) await run.execute(one)
  await run.finish()
}

test(`calls survive kills, storage, network and clock, and land once, in order, with their user (seed ${seed})`, async () => {
  await fc.assert(fc.asyncProperty(commands, runAll), { ...runs(2000, 50_000), endOnFailure: false })
}, 3_600_000)

test('the model notices a call that is lost, and one that lands with the wrong user', async () => {
  const run = await openRun()
  await run.execute({ do: 'call', call: { call: 'identify', user: 'ann', value: 1 } })
  await run.execute({ do: 'call', call: { call: 'attributePurchase', purchase: '1', isAsked: true } })
  run.server.links.set('1', ['ann', 'bob'])
  await expect(run.finish()).rejects.toThrow('purchase 1')
  run.server.links.delete('1')
  await expect(run.finish()).rejects.toThrow('purchase 1')
})
