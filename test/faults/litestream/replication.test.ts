import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { folderOf, run, type Serving, startServing } from '../../processes.ts'
import { isLong, seed } from '../../random.ts'
import { bundledServing } from '../bundled.ts'
import { faultsIn } from '../database_faults.ts'
import { type Call, CONFIG, callsOf, post } from '../load.ts'
import { openModel } from '../model.ts'
import { writeConfig } from './documented.ts'
import { litestream, program, replicate, SKIPPED } from './program.ts'

const ROUNDS = isLong ? 8 : 2
const ROUND_MS = isLong ? 10_000 : 1_500
/** How many times as long the slowest of a hundred calls may take beside Litestream. The short form has few calls. */
const MAX_P99_RATIO = isLong ? 2 : 6
const CLIENTS = 8

type Deadline = () => boolean

/** The calls until `isOver`. */
const until = (calls: Iterator<Call>, isOver: Deadline, wanted: (call: Call) => boolean): Iterator<Call> => ({
  next() {
    for (let next = calls.next(); !next.done && !isOver(); next = calls.next())
      if (wanted(next.value)) return next
    return { done: true, value: undefined }
  },
})

const after = (ms: number): Deadline => {
  const end = performance.now() + ms
  return () => performance.now() > end
}

const quantile = (times: number[], fraction: number): number =>
  times.sort((a, b) => a - b)[Math.floor(times.length * fraction)] ?? Number.NaN
const median = (values: number[]): number => quantile([...values], 0.5)

/** A server whose answered calls are recorded. */
async function openInstance(subscribers: number) {
  const authority = await openAuthority({ now: Date.now() })
  const cwd = folderOf({ 'config.toml': `${CONFIG}\n[store]\npath = "windfall.db"\n` })
  const server = { cwd, entry: await bundledServing(), env: { ROOT_PEM: authority.root_pem } }
  const calls = callsOf({ seed, subscribers, authority })
  const model = openModel()
  const refused: string[] = []

  /** Posts calls until `isOver`, and returns how long each took in ms. `isRecorded`: the calls count as answered. */
  async function load(
    { url }: Serving,
    isOver: Deadline,
    {
      wanted = () => true,
      isRecorded = true,
    }: { wanted?: (call: Call) => boolean; isRecorded?: boolean } = {},
  ): Promise<number[]> {
    const began = new Map<Call, number>()
    const times: number[] = []
    await post(
      until(calls, isOver, wanted),
      { url, clients: CLIENTS },
      {
        sending(call) {
          model.sending(call)
          began.set(call, performance.now())
        },
        answered(call, status, body) {
          times.push(performance.now() - (began.get(call) ?? 0))
          if (status !== 200) refused.push(`${call.step.kind}: ${status} ${body}`)
          else if (isRecorded) model.answered(call)
        },
      },
    )
    return times
  }

  return { cwd, start: () => startServing(server), load, model, refused }
}

test.skipIf(program === null)(
  `a restored replica has every call answered before the last sync, and calls are as fast beside Litestream (seed ${seed})${SKIPPED}`,
  { timeout: isLong ? 900_000 : 90_000 },
  async () => {
    const { cwd, start, load, model, refused } = await openInstance(isLong ? 8_000 : 1_200)
    const running = await start()
    const { config, socket, database } = writeConfig(cwd)
    await load(running, after(500))

    const alone: number[] = []
    const beside: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(quantile(await load(running, after(ROUND_MS)), 0.99))
      const replication = await replicate(config, { socket, database })
      beside.push(quantile(await load(running, after(ROUND_MS)), 0.99))
      // Litestream continues where a killed one was.
      await replication.end(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
    }
    const ratio = median(beside) / median(alone)
    process.stdout.write(
      `p99 of a call: ${median(alone).toFixed(1)} ms alone, ${median(beside).toFixed(1)} ms beside Litestream (× ${ratio.toFixed(2)})\n`,
    )
    expect(refused).toEqual([])
    expect(ratio).toBeLessThan(MAX_P99_RATIO)

    const replication = await replicate(config, { socket, database })
    await load(running, after(ROUND_MS))
    // The load continues while the replica is written and the programs are killed. Of these calls, each may be missing.
    const more = load(running, () => false, {
      wanted: ({ step }) => step.kind === 'notification',
      isRecorded: false,
    })
    const { txid, replica_txid } = await replication.sync()
    expect(replica_txid).toBe(txid)
    running.kill('SIGKILL')
    await Promise.all([replication.end('SIGKILL'), running.ended, more])

    const restored = join(cwd, 'restored.db')
    litestream(['restore', '-config', config, '-o', restored, database])
    expect(faultsIn(restored, model)).toEqual([])
    expect(faultsIn(database, model)).toEqual([])
    expect(await run(['verify', restored], { cwd })).toMatchObject({ status: 0 })
  },
)
