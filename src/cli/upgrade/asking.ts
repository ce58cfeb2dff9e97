/** Runs executables as the owner of the database: their commands, and the tasks of an upgrade. */
import { spawn } from 'node:child_process'
import { Refusal } from '../../errors.ts'
import { CHILD_FLAG } from '../../program/children.ts'
import type { Owner } from '../instance/privileges.ts'
import type { TaskAnswer, Tasks } from './tasks.ts'

/** The name of the child process that runs the tasks. */
export const UPGRADE_CHILD = 'upgrade'

type Ended = { status: number | null; stdout: string; stderr: string }

/** Asks executables, with the rights of `owner` if this process is root, in the folder `cwd`. */
export function openAsking(owner: Owner, cwd: string) {
  const isRoot = process.geteuid?.() === 0
  const rights = isRoot ? { uid: owner.uid, gid: owner.gid } : {}

  /** Runs `program` until it ends. @throws Refusal 500 `not_executable` */
  const run = (program: string, args: readonly string[]): Promise<Ended> => runWith(program, args, rights)

  /** Like `run`, with the rights of this process. */
  const runAsSelf = (program: string, args: readonly string[]): Promise<Ended> => runWith(program, args, {})

  function runWith(program: string, args: readonly string[], user: Partial<Owner>): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd, ...user, stdio: ['ignore', 'pipe', 'pipe'] })
      let stdout = ''
      let stderr = ''
      child.stdout.setEncoding('utf8').on('data', (text) => {
        stdout += text
      })
      child.stderr.setEncoding('utf8').on('data', (text) => {
        stderr += text
      })
      child.on('error', ({ message }) => {
        reject(new Refusal(500, 'not_executable', `${program} cannot be run: ${message}`))
      })
      child.on('close', (status) => resolve({ status, stdout, stderr }))
    })
  }

  /** Runs a task with `program`. @throws Refusal with the reason of the task; 500 `task_failed` if it answers nothing. */
  async function task<Name extends keyof Tasks>(
    program: string,
    name: Name,
    args: Parameters<Tasks[Name]>[0],
  ): Promise<Awaited<ReturnType<Tasks[Name]>>> {
    const ended = await run(program, [CHILD_FLAG, '', UPGRADE_CHILD, name, JSON.stringify(args)])
    const answer = answerIn(ended.stdout)
    if (answer === null) {
      const reason = ended.stderr.trim().slice(0, 2_000) || `it ended with ${ended.status ?? 'a signal'}`
      throw new Refusal(500, 'task_failed', `${program} could not ${WORDS[name]}: ${reason}`)
    }
    if ('refusal' in answer) throw new Refusal(409, answer.refusal.code, answer.refusal.message)
    return answer.result as Awaited<ReturnType<Tasks[Name]>>
  }

  return { run, runAsSelf, task }
}

export type Asking = ReturnType<typeof openAsking>

const WORDS: Readonly<Record<keyof Tasks, string>> = {
  version: 'read the version of the database',
  backup: 'back up the database',
  copy: 'copy the database',
  rehearse: 'migrate a copy of the database',
  state: 'read the state of the database',
  goBack: 'restore the database',
}

/** The answer in the last line of the output; null if there is none. */
function answerIn(stdout: string): TaskAnswer | null {
  try {
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as TaskAnswer
  } catch {
    return null
  }
}
