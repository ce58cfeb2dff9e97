import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAuthority } from '../../src/demo/signing/authority.ts'
import { openRandom } from '../../src/demo/world/random.ts'
import { openRawPayloads } from '../../src/ledger/raw.ts'
import { openStore } from '../../src/store/store.ts'
import { folderOf, type Serving, startServing } from '../processes.ts'
import { isLong, seed } from '../random.ts'
import { bundledServing } from './bundled.ts'
import { faultsIn } from './database_faults.ts'
import { type Call, CONFIG, callsOf, post } from './load.ts'
import { openModel } from './model.ts'

const CRASHES = isLong ? 200 : 15
const MOST_ANSWERS = 200
const MOST_TURNS = 40

/** Kills the process after a random number of turns of this event loop, so that any work can be interrupted. */
function killSoon(running: Serving, turns: number): void {
  if (turns === 0) running.kill('SIGKILL')
  else setImmediate(killSoon, running, turns - 1)
}

/** The calls to post. Calls without a response are put back before the remaining ones. */
function openQueue(calls: Iterator<Call>) {
  let rest = calls
  let first: Call[] = []
  return {
    next: (): IteratorResult<Call> => {
      const value = first.shift()
      return value === undefined ? rest.next() : { value, done: false }
    },
    putBack: (unanswered: Call[]): void => {
      first = [...unanswered, ...first].sort((a, b) => a.number - b.number)
    },
    /** Ends the generation of new calls; only those put back remain. */
    endRest: (): void => {
      rest = [].values()
    },
  }
}

/** Returns every signed payload of a database, restored to its original text. */
async function textsIn(file: string): Promise<(string | null)[]> {
  const store = openStore(file)
  const raw = openRawPayloads(store, () => 0)
  const texts = store
    .prepare<[], { id: number }>('select id from signed_payloads')
    .all()
    .map(({ id }) => raw.read(id))
  await store.close()
  return texts
}

test(`answered calls survive ${CRASHES} crashes under load, and nothing is stored partially (seed ${seed})`, {
  timeout: isLong ? 1_200_000 : 180_000,
}, async () => {
  const random = openRandom(`crash/${seed}`)
  const authority = await openAuthority({ now: Date.now() })
  const cwd = folderOf({ 'config.toml': CONFIG })
  const program = { cwd, entry: await bundledServing(), env: { ROOT_PEM: authority.root_pem } }
  const queue = openQueue(callsOf({ seed, subscribers: isLong ? 3_000 : 200, authority }))
  const model = openModel()
  const refused: string[] = []
  let answers = 0

  /** Posts until `most` responses have arrived, after which the process is killed, or until no call is left. */
  async function load(running: Serving, most: number): Promise<void> {
    let left = most
    const unanswered = await post(
      queue,
      { url: running.url, clients: random.whole(8, 16) },
      {
        sending: model.sending,
        answered(call, status, body) {
          answers += 1
          if (status === 200) model.answered(call)
          else refused.push(`${call.step.kind}: ${status} ${body}`)
          left -= 1
          if (left === 0) killSoon(running, random.whole(0, MOST_TURNS))
        },
      },
    )
    queue.putBack(unanswered)
  }

  const file = join(cwd, 'data/windfall.db')
  for (let crash = 1; crash <= CRASHES; crash += 1) {
    const running = await startServing(program)
    expect({ crash, faults: faultsIn(file, model) }).toEqual({ crash, faults: [] })
    await load(running, random.whole(1, MOST_ANSWERS))
    expect((await running.ended).signal).toBe('SIGKILL')
  }

  const running = await startServing(program)
  expect(faultsIn(file, model)).toEqual([])
  queue.endRest()
  await load(running, Number.POSITIVE_INFINITY)
  running.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ status: 0, signal: null })
  expect({ refused, left: queue.next().done }).toEqual({ refused: [], left: true })
  expect(faultsIn(file, model)).toEqual([])
  const sent = new Set<string | null>([...model.signed.values()].flatMap(({ texts }) => [...texts]))
  const kept = await textsIn(file)
  expect(kept).toHaveLength(model.signed.size)
  expect(kept.filter((text) => !sent.has(text))).toEqual([])
  expect(answers).toBeGreaterThan(CRASHES * 30)
})
