/** The setup of each benchmark section: a temporary folder, databases, the load process and servers. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Child, openChild } from './child.ts'
import { populate } from './database.ts'
import type { Measured } from './load/load.ts'
import type { Load } from './load/requests.ts'
import type { ServerRequest, ServerSpec } from './servers/serve.ts'
import type { Sizes } from './sizes.ts'

/** A server of the benchmark in a separate process. */
export type Server = {
  url: string
  pid: number
  request<Answer>(message: ServerRequest): Promise<Answer>
  close(): Promise<void>
}

export type Bench = ReturnType<typeof openBench>

export const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** The Node options of `npm start`. */
export const NODE_OPTIONS_OF_START = ['--max-semi-space-size=2']

/** `against`: the folder of another checkout of this project. */
export function openBench(sizes: Sizes, against?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'windfall-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const children = new Set<Child>()
  let files = 0
  const populated = new Map<number, Promise<string>>()
  const busyFractions: number[] = []
  const load = start('load/load.ts')

  const newFile = (): string => join(folder, `${files++}.db`)

  function newFolder(): string {
    const path = join(folder, String(files++))
    mkdirSync(path)
    return path
  }

  /** Starts a file of this folder in a separate process, which ends with the benchmark. */
  function start(file: string, options: readonly string[] = []): Child {
    const child = openChild(file, options)
    children.add(child)
    return child
  }

  /** Returns the path of a new database with `users` users. It is a copy: each size is generated once. */
  async function newDatabase(users: number): Promise<string> {
    const file = newFile()
    const original = populated.get(users) ?? populate(file, folder, users).then(() => file)
    populated.set(users, original)
    const copy = newFile()
    copyFileSync(await original, copy)
    return copy
  }

  async function serve(spec: ServerSpec): Promise<Server> {
    const child = start('servers/serve.ts', NODE_OPTIONS_OF_START)
    const { url } = await child.request<{ url: string }>({ open: spec })
    return {
      url,
      pid: child.pid,
      request: <Answer>(message: ServerRequest) => child.request<Answer>(message),
      async close(): Promise<void> {
        children.delete(child)
        await child.close()
      },
    }
  }

  /** Sends a load to a server and returns its response times. */
  async function measure(spec: Load): Promise<Measured> {
    const measured = await load.request<Measured>(spec)
    busyFractions.push(measured.busy)
    return measured
  }

  /** The largest fraction of a round in which the load process was busy. At 1 the load process is the bottleneck. */
  const maxBusy = (): number => Math.max(0, ...busyFractions)

  async function close(): Promise<void> {
    await Promise.all([...children].map((child) => child.close()))
  }

  return {
    sizes,
    against: against === undefined ? null : resolve(against),
    print,
    newFile,
    newFolder,
    start,
    newDatabase,
    serve,
    measure,
    maxBusy,
    close,
  }
}

export const CONNECTIONS = 64

/** Runs each contender once per round, so that a slow phase of the machine affects all contenders. */
export async function interleave<Name extends string, Result>(
  rounds: number,
  contenders: Record<Name, () => Promise<Result>>,
): Promise<Record<Name, Result[]>> {
  const entries = Object.entries(contenders) as [Name, () => Promise<Result>][]
  const results = Object.fromEntries(entries.map(([name]) => [name, []])) as unknown as Record<Name, Result[]>
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of entries) results[name].push(await run())
  }
  return results
}
