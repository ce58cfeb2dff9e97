/** Set-up of every bench section: a folder, the load, servers that are stopped at the end, turns. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Child, openChild } from './child.ts'
import { populate } from './database.ts'
import type { Measured } from './load/load.ts'
import type { Load } from './load/requests.ts'
import type { ServerRequest, ServerSpec } from './servers/serve.ts'
import type { Sizes } from './sizes.ts'

/** A server of the bench in its own process. */
export type Server = {
  url: string
  pid: number
  request<Answer>(question: ServerRequest): Promise<Answer>
  close(): Promise<void>
}

export type Bench = ReturnType<typeof openBench>

export const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** As `npm start` sets it. */
export const NODE_OPTIONS_OF_START = ['--max-semi-space-size=2']

/** `against`: where another checkout of this project lies. */
export function openBench(sizes: Sizes, against?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'windfall-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const children = new Set<Child>()
  let files = 0
  const populated = new Map<number, Promise<string>>()
  const loads: number[] = []
  const load = started('load/load.ts', [])

  const newFile = (): string => join(folder, `${files++}.db`)

  function newFolder(): string {
    const path = join(folder, String(files++))
    mkdirSync(path)
    return path
  }

  function started(file: string, options: readonly string[]): Child {
    const child = openChild(file, options)
    children.add(child)
    return child
  }

  /** Starts a file of this folder as a process of its own, which ends with the bench. */
  const start = (file: string, options: readonly string[] = []): Child => started(file, options)

  /** A database of its own with `users` users in it. */
  async function databaseOf(users: number): Promise<string> {
    const original = newFile()
    const known = populated.get(users) ?? populate(original, folder, users).then(() => original)
    populated.set(users, known)
    const copy = newFile()
    copyFileSync(await known, copy)
    return copy
  }

  async function serve(spec: ServerSpec): Promise<Server> {
    const child = started('servers/serve.ts', NODE_OPTIONS_OF_START)
    const { url } = await child.request<{ url: string }>({ open: spec })
    return {
      url,
      pid: child.pid,
      request: <Answer>(question: ServerRequest) => child.request<Answer>(question),
      async close(): Promise<void> {
        children.delete(child)
        await child.close()
      },
    }
  }

  /** Puts 64 connections of load on a server; see requests.ts. */
  async function measure(spec: Load): Promise<Measured> {
    const measured = await load.request<Measured>(spec)
    loads.push(measured.busy)
    return measured
  }

  /** The largest part of a round that the load's own process was at work: 1 would mean that it was the bottleneck. */
  const busiest = (): number => Math.max(0, ...loads)

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
    databaseOf,
    serve,
    measure,
    busiest,
    close,
  }
}

export const CONNECTIONS = 64

/** Everybody gets a turn in each of the rounds, so that a machine's moods meet all of them. */
export async function inTurn<Name extends string, Result>(
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
