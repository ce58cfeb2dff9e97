/**
 * The calls that reached the model server in random sequences, made again to the real one: it answers the same and has the
 * same users, attributes and links, so what the property test proves of the model holds for Windfall.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BUNDLE } from '../apple/samples.ts'
import { openTestApp } from '../helpers.ts'
import { runs, seed } from '../random.ts'
import { type Command, commands, openRun } from './commands.ts'
import { openModelServer } from './model_server.ts'

type Call = ReturnType<typeof openModelServer>['calls'][number]
/** What a user is asked for. */
type User = { users: { attributes: Record<string, unknown>; links: { transaction_id: string }[] }[] }

/** The calls of a sequence that were answered. Their proofs are left out: they are not Apple's. */
async function callsOf(list: readonly Command[]): Promise<Call[]> {
  const run = await openRun()
  for (const one of list) await run.execute(one)
  await run.finish()
  return run.server.calls.map(({ jws: _, ...call }) => call)
}

/** The call with users and purchases of its sequence. */
const named = ({ appUserId, originalTransactionId: id, ...call }: Call, sequence: number): Call => ({
  ...call,
  appUserId: appUserId.startsWith('$anon_') ? appUserId : `${appUserId}-${sequence}`,
  ...(id && { originalTransactionId: `${sequence}00${id}` }),
})

const { numRuns } = runs(25, 1000)

test(`the real server answers the calls of ${numRuns} sequences as the model does (seed ${seed})`, async () => {
  const app = await openTestApp()
  const authorization = `Bearer ${await app.token()}`
  const model = openModelServer()
  for (const [sequence, list] of fc.sample(commands, { numRuns, seed }).entries()) {
    for (const { call, ...body } of (await callsOf(list)).map((one) => named(one, sequence + 1))) {
      app.clock.turn(1_000)
      const path = `/api/sdk/v1/${call}`
      const { text } = model.accept({ url: path, headers: {}, body: JSON.stringify(body) })
      expect((await app.post(path, body)).body).toEqual(JSON.parse(text))
    }
  }
  const holders = [...model.links].map(([id, users]) => [id, users.at(-1)])
  const found: typeof holders = []
  const people = new Set([...model.users.keys(), ...[...model.links.values()].flat()])
  for (const id of people) {
    const path = `/api/v1/users/${encodeURIComponent(id)}?app=${BUNDLE}`
    const answer = (await (await app.request(path, { headers: { authorization } })).json()) as Partial<User>
    const [user] = answer.users ?? []
    expect(user?.attributes ?? {}).toEqual(model.users.get(id) ?? {})
    for (const { transaction_id } of user?.links ?? []) found.push([transaction_id, id])
  }
  expect(found.sort()).toEqual(holders.sort())
  expect(found.length).toBeGreaterThan(10)
}, 3_600_000)
